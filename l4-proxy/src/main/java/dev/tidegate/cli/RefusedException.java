package dev.tidegate.cli;

import java.util.ArrayList;
import java.util.List;

/** The running process said no. */
final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    private final int status;
    private final transient Json problem;

    /**
     * @param status of the answer
     * @param problem its body; {@link Json#NOTHING} when that was not JSON
     * @param lead what the operator should know first
     */
    RefusedException(int status, Json problem, String lead) {
        super(lead);
        this.status = status;
        this.problem = problem;
    }

    /** The status of the answer. */
    int status() {
        return status;
    }

    /** The answer's body. */
    Json problem() {
        return problem;
    }

    /** What to tell, one thing a line: what was refused and why, then each problem. */
    List<String> lines() {
        List<String> lines = new ArrayList<>(List.of(getMessage()));
        for (Json each : problem.at("problems").elements()) {
            long line = each.number("line");
            String place = line > 0 ? line + ":" + each.number("column") + ": " : "";
            String path = each.text("path");
            String hint = each.text("hint");
            lines.add("  " + place + (path.isEmpty() ? "" : path + ": ") + each.text("message")
                    + (hint.isEmpty() ? "" : "; " + hint));
        }
        return lines;
    }
}
