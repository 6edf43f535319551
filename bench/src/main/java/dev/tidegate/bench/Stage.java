package dev.tidegate.bench;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Where one comparison runs: the cores, what Tidegate is started by, and where it writes. Immutable.
 *
 * @param children what is started, all of which ends with the comparison
 * @param directory for configurations, logs and recordings; removed at the end
 */
record Stage(Children children, Path directory, TidegateLauncher launcher, int proxyCore, int loadCore) {
    private static final int MAX_CONNECTIONS_LEAST = 8_000;
    private static final int MAX_CONNECTIONS_RESERVE = 500;

    /** @param everywhere whether its backend has every loopback address, or 127.0.0.1 alone */
    LoadProcess startLoad(boolean everywhere) throws IOException {
        return LoadProcess.start(children, loadCore, launcher.java(), everywhere);
    }

    /**
     * Of what stands on the proxies' core.
     *
     * @param mostConnections that will be open at a time
     */
    SubjectStarter starter(LoadProcess load, int mostConnections) {
        return starter(load, mostConnections, Integer.toString(proxyCore));
    }

    /** Of what shares both cores with the load. */
    SubjectStarter starterOnBothCores(LoadProcess load, int mostConnections) {
        return starter(load, mostConnections, proxyCore + "," + loadCore);
    }

    private SubjectStarter starter(LoadProcess load, int mostConnections, String cores) {
        int limit = Math.max(MAX_CONNECTIONS_LEAST, mostConnections + MAX_CONNECTIONS_RESERVE);
        return new SubjectStarter(children, directory, load.backend(), cores, limit, launcher);
    }

    Jcmd jcmd() throws IOException {
        return Jcmd.beside(launcher.java());
    }
}
