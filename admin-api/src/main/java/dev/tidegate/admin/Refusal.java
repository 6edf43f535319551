package dev.tidegate.admin;

/** Ends the reading of a request that will be refused. */
final class Refusal extends Exception {
    private static final long serialVersionUID = 1;

    private final transient Answer answer;

    Refusal(Answer answer) {
        super(answer.status().toString(), null, false, false);
        this.answer = answer;
    }

    Answer answer() {
        return answer;
    }
}
