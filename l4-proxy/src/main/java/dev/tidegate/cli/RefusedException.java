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

    /** What to tell, one thing a line: what was refused and why, then each problem, but for one that is told already. */
    List<String> lines() {
        List<String> lines = new ArrayList<>(List.of(getMessage()));
        List<Json> problems = problem.at("problems").elements();
        for (Json each : problems) {
            String path = each.text("path");
            String hint = each.text("hint");
            String message = (path.isEmpty() ? "" : path + ": ")
                    + (each.text("severity").equals("warning") ? "warning: " : "")
                    + each.text("message")
                    + (hint.isEmpty() ? "" : "; " + hint);
            if (problems.size() > 1 || !getMessage().contains(message)) {
                lines.add("  " + place(each) + message);
            }
        }
        return lines;
    }

    /** As {@code check} writes it; a file may be another than the main one. */
    private static String place(Json problem) {
        long line = problem.number("line");
        String file = problem.text("file");
        return line > 0 ? (file.isEmpty() ? "" : file + ":") + line + ":" + problem.number("column") + ": " : "";
    }
}
