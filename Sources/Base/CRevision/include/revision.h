// Which commit a program was built from.
#pragma once

// The build metadata of the version (semver.org): a commit, or `dev` where the build names none.
const char *authbroker_revision(void);
