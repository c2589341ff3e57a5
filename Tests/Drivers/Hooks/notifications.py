"""A desktop's notification service (Desktop Notifications Specification 1.2): it writes each message to a file.

    /usr/bin/python3 notifications.py FILE
"""

import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.Notifications"


class Service(dbus.service.Object):
    """The service."""

    @dbus.service.method(NAME, in_signature="susssasa{sv}i", out_signature="u")
    def Notify(self, _program, _replaced, _icon, summary, body, _actions, _hints, _timeout):
        """Shows a message."""
        with open(sys.argv[1], "a", encoding="utf-8") as file:
            file.write(f"{summary}: {body}\n")
        return 1

    @dbus.service.method(NAME, out_signature="ssss")
    def GetServerInformation(self):
        """Tells of itself."""
        return "test", "test", "1", "1.2"

    @dbus.service.method(NAME, out_signature="as")
    def GetCapabilities(self):
        """Tells that messages have a body."""
        return ["body"]


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
name = dbus.service.BusName(NAME, bus)
service = Service(bus, "/org/freedesktop/Notifications")
print("ready", flush=True)
GLib.MainLoop().run()
