// What the kernel tells of links, addresses and routes (rtnetlink(7)).
#pragma once

// Every change of a link, an address or a route is a message on this socket from now on.
static inline int clinux_route_socket(void) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (fd < 0) return -errno;
  struct sockaddr_nl address = {
    .nl_family = AF_NETLINK,
    .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
  };
  if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  int error = errno;
  close(fd);
  return -error;
}
// The length of the next datagram, cut to the buffer; 0 for one that is not from the kernel, whose port is 0; or -errno.
static inline int64_t clinux_route_receive(int fd, void *buffer, size_t length) {
  struct sockaddr_nl from = {0};
  socklen_t size = sizeof from;
  int64_t result;
  do result = recvfrom(fd, buffer, length, MSG_DONTWAIT, (struct sockaddr *)&from, &size);
  while (result < 0 && errno == EINTR);
  if (result < 0) return -(int64_t)errno;
  return size == sizeof from && from.nl_family == AF_NETLINK && from.nl_pid == 0 ? result : 0;
}
