// What the kernel tells of the connections of this machine (sock_diag(7)).
#pragma once

// The socket at the other end of a TCP connection whose both ends are on this machine: its user; `is_held` is 0 once
// no process has it. `error` is ENOENT where there is none, or the kernel does not tell of TCP.
struct clinux_other_end { int error; int is_held; uint32_t uid; };

// Fills an address of inet_diag(7); the family, or 0 for one that is none of TCP.
static inline int clinux_diagnosed_address(const struct sockaddr_storage *address, __be16 *port, __be32 numbers[4]) {
  if (address->ss_family == AF_INET) {
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
    *port = v4->sin_port;
    memcpy(numbers, &v4->sin_addr, sizeof v4->sin_addr);
    return AF_INET;
  }
  if (address->ss_family != AF_INET6) return 0;
  const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
  *port = v6->sin6_port;
  memcpy(numbers, &v6->sin6_addr, sizeof v6->sin6_addr);
  return AF_INET6;
}

static inline struct clinux_other_end clinux_other_end(int fd) {
  struct clinux_other_end end = {0};
  struct sockaddr_storage here = {0}, there = {0};
  socklen_t size = sizeof here, peer_size = sizeof there;
  struct { struct nlmsghdr head; struct inet_diag_req_v2 question; } request = {
    .head = {.nlmsg_len = sizeof request, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
    .question = {.sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0u,
                 .id = {.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
  };
  struct inet_diag_sockid *id = &request.question.id;
  if (getsockname(fd, (struct sockaddr *)&here, &size) < 0 || getpeername(fd, (struct sockaddr *)&there, &peer_size) < 0) {
    end.error = errno;
    return end;
  }
  int family = clinux_diagnosed_address(&there, &id->idiag_sport, id->idiag_src);
  if (!family || clinux_diagnosed_address(&here, &id->idiag_dport, id->idiag_dst) != family) {
    end.error = EAFNOSUPPORT;
    return end;
  }
  request.question.sdiag_family = (uint8_t)family;
  int kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (kernel < 0) {
    end.error = errno;
    return end;
  }
  // The kernel answers inside send(2), so that nothing is waited for here.
  union { struct nlmsghdr head; char bytes[1024]; } answer;
  ssize_t count = send(kernel, &request, sizeof request, 0);
  if (count >= 0) count = recv(kernel, &answer, sizeof answer, MSG_DONTWAIT);
  end.error = count < 0 ? errno : 0;
  close(kernel);
  if (end.error) return end;
  if (count < (ssize_t)NLMSG_LENGTH(sizeof(int))) end.error = EPROTO;
  else if (answer.head.nlmsg_type == NLMSG_ERROR) end.error = -*(int *)NLMSG_DATA(&answer.head);
  else if (answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY || count < (ssize_t)NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
    end.error = EPROTO;
  if (end.error) return end;
  const struct inet_diag_msg *found = NLMSG_DATA(&answer.head);
  // Where no connection is found the kernel answers with a socket that listens on its port.
  if (found->id.idiag_dport != id->idiag_dport) end.error = ENOENT;
  end.is_held = found->idiag_inode != 0;
  end.uid = found->idiag_uid;
  return end;
}
