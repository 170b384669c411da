/* The one place of the version. */
#ifndef STEND_VERSION_H
#define STEND_VERSION_H

#define STEND_VERSION "0.1.0"

#endif
