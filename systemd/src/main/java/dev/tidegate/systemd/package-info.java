/** What makes Tidegate a service: readiness and watchdog messages, listening sockets handed over by systemd. */
package dev.tidegate.systemd;
