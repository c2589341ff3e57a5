// Which version a build has.
#pragma once

// What `.ci/version --build` says of it; empty where the build was not told.
const char *authbroker_version(void);
