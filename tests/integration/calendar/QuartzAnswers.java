// Prints what Quartz's CronExpression answers to the questions on standard input (see calendar_answers.cc for the lines).
//
//     java -cp quartz.jar QuartzAnswers.java firings < questions      number, then the firings
//     java -cp quartz.jar QuartzAnswers.java offsets < instants       lines "zone<TAB>second second ..."
//     java -cp quartz.jar QuartzAnswers.java version                  of Java's zone data
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.zone.ZoneRulesProvider;
import java.util.Arrays;
import java.util.Date;
import java.util.Set;
import java.util.TimeZone;
import org.quartz.CronExpression;

public class QuartzAnswers {
    private static final Set<String> KNOWN = Set.of(TimeZone.getAvailableIDs());
    private static final PrintWriter OUT =
            new PrintWriter(new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8)));

    private static void firings(String line) throws Exception {
        String[] question = line.split("\t");
        CronExpression rule = new CronExpression(question[1]);
        rule.setTimeZone(TimeZone.getTimeZone(question[2]));
        Date after = new Date(Long.parseLong(question[5]) * 1000);
        long to = Long.parseLong(question[6]) * 1000;
        StringBuilder found = new StringBuilder(question[0]).append('\t');
        for (int left = Integer.parseInt(question[7]); left > 0; --left) {
            Date due = rule.getNextValidTimeAfter(after);
            if (due == null || due.getTime() > to) break;
            found.append(due.getTime() / 1000).append(' ');
            after = due;
        }
        OUT.println(found);
    }

    private static void offsets(String line) {
        String[] fields = line.split("\t");
        TimeZone zone = TimeZone.getTimeZone(fields[0]);
        StringBuilder found = new StringBuilder(fields[0]).append('\t');
        if (!KNOWN.contains(fields[0])) {
            found.append("unknown");
        } else {
            Arrays.stream(fields[1].split(" "))
                    .forEach(second -> found.append(zone.getOffset(Long.parseLong(second) * 1000) / 1000).append(' '));
        }
        OUT.println(found);
    }

    public static void main(String[] arguments) throws Exception {
        String what = arguments.length == 1 ? arguments[0] : "";
        if (what.equals("version")) {
            OUT.println(ZoneRulesProvider.getVersions("UTC").lastEntry().getKey());
        } else if (!what.equals("firings") && !what.equals("offsets")) {
            throw new IllegalArgumentException("usage: QuartzAnswers firings|offsets|version");
        } else {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (what.equals("firings")) firings(line); else offsets(line);
            }
        }
        OUT.flush();
    }
}
