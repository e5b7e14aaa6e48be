"""Ways to break the HTTP client, each with scenarios that must then fail. `run.py --self-test` runs them, so that no rule of the
clients is without a scenario that notices when it is broken."""

import http.client
import itertools
import json
import re
import ssl
import urllib.parse

from client import CallFailed, Client


class NoKey(Client):
    def keyed(self, members):
        return members


class NewKeyForEachAttempt(Client):
    attempts = itertools.count()

    def encode(self, text):
        return re.sub(r'"key": "[0-9a-f]{32}"', f'"key": "attempt {next(self.attempts)}"', text).encode()


class OneKeyForAll(Client):
    def new_key(self):
        return "the only key"


class NoRetry(Client):
    def is_over(self, instant, deadline):
        return True


class IgnoresRetryAfter(Client):
    def retry_after_s(self, wanted_s):
        return 0


class NoRetryOfThrottled(Client):
    def may_repeat(self, status, fields):
        return status == 503


class RepeatsEverything(Client):
    def may_repeat(self, status, fields):
        return True


class NoDeadline(Client):
    """Each attempt has all the time, and the call as many attempts as it likes."""

    def remaining_s(self, deadline):
        return self.timeout_s

    def is_over(self, instant, deadline):
        return super().is_over(instant, deadline + 20)


class NoTimeout(Client):
    def remaining_s(self, deadline):
        return 3600


class WaitCountsAsTime(Client):
    def send(self, method, path, text, kind, wait_s):
        return super().send(method, path, text, kind, 0)


class NoRedirect(Client):
    follows_redirects = False


class TokenLostOnRedirect(Client):
    def may_show_token(self, origin):
        return origin == self.origin


class NoToken(Client):
    def may_show_token(self, origin):
        return False


class AcceptsHalfBodies(Client):
    def read(self, response):
        try:
            return response.read()
        except http.client.IncompleteRead as error:
            return error.partial + b'"}'


class OnlyLatin(Client):
    def encode(self, text):
        return text.encode("latin-1", "replace")


class NumbersAreDoubles(Client):
    def decode(self, text):
        return super().decode(re.sub(rb"(?<=[ :])-?\d{16,}", lambda match: b"%d" % float(match[0]), text if isinstance(text, bytes) else text.encode()))


class NamesAreNotEncoded(Client):
    @staticmethod
    def quoted(name):
        return urllib.parse.quote(name, safe="/+;")


class ErrorsHaveNoField(Client):
    def refusal_of(self, problem):
        return super().refusal_of({**problem, "field": None})


class BatchesFailAsOne(Client):
    def put_many(self, queue, messages):
        results = super().put_many(queue, messages)
        for each in results:
            if isinstance(each, CallFailed):
                raise each
        return results


class TrustsAnyCertificate(Client):
    def trust(self, ca):
        return ssl._create_unverified_context()


class TrustsAnyHost(Client):
    def trust(self, ca):
        context = super().trust(ca)
        context.check_hostname = False
        return context


class TakesAnyVersion(Client):
    def check_version(self, page):
        pass


class InsistsOnAVersion(Client):
    def check_version(self, page):
        try:
            super().check_version(json.dumps({"version": json.loads(page)["version"]}))
        except ValueError:
            raise CallFailed("unavailable", "unsupported_server", "there is no version") from None


class TakesAnyAnswer(Client):
    def answer_of(self, fields, body, origin):
        return {} if "html" in fields.get("content-type", "") else super().answer_of(fields, body, origin)


# By the name that `--broken` takes: the client, and the scenarios that fail with it.
BREAKAGES = {
    "no_key": (NoKey, ["a_put_whose_response_is_lost_is_one_message", "half_a_body_is_no_response", "each_put_has_a_key_of_its_own",
                       "a_redirected_put_whose_response_is_lost_is_one_message", "a_put_whose_response_was_lost_in_a_crash_is_one_message",
                       "a_batch_whose_response_is_lost_is_put_once"]),
    "new_key_for_each_attempt": (NewKeyForEachAttempt, ["a_put_whose_response_is_lost_is_one_message", "a_put_during_a_restart_waits_for_the_server"]),
    "one_key_for_all": (OneKeyForAll, ["each_put_has_a_key_of_its_own"]),
    "no_retry": (NoRetry, ["a_put_that_the_network_cut_off_is_sent_again", "half_a_head_is_no_response", "an_ack_whose_response_is_lost_succeeds",
                           "a_cancel_whose_response_is_lost_succeeds", "a_long_poll_outlives_a_lost_connection", "a_long_poll_outlives_a_restart",
                           "connections_that_the_network_closed_are_replaced", "an_ack_during_a_restart_succeeds_after_it"]),
    "ignores_retry_after": (IgnoresRetryAfter, ["a_busy_server_is_asked_again_after_retry_after", "a_throttled_client_waits_as_long_as_it_is_asked_to"]),
    "no_retry_of_throttled": (NoRetryOfThrottled, ["a_put_into_a_full_queue_succeeds_when_there_is_room", "a_full_queue_throttles_its_producers"]),
    "repeats_everything": (RepeatsEverything, ["a_body_larger_than_1_mib_is_refused_once", "an_error_of_the_server_itself_is_not_repeated"]),
    "no_deadline": (NoDeadline, ["all_attempts_of_a_call_share_one_deadline", "a_server_that_stays_busy_ends_the_call_at_its_deadline"]),
    "no_timeout": (NoTimeout, ["a_response_that_does_not_come_ends_the_call_at_its_deadline"]),
    "wait_counts_as_time": (WaitCountsAsTime, ["the_wait_of_a_long_poll_does_not_count_as_time_of_the_call"]),
    "no_redirect": (NoRedirect, ["a_redirect_leads_to_the_owner", "a_redirect_is_followed_with_the_token"]),
    "token_lost_on_redirect": (TokenLostOnRedirect, ["a_redirect_is_followed_with_the_token"]),
    "no_token": (NoToken, ["a_token_is_sent_with_each_call"]),
    "accepts_half_bodies": (AcceptsHalfBodies, ["half_a_body_is_no_response"]),
    "only_latin": (OnlyLatin, ["text_of_every_script_arrives_as_it_was_put"]),
    "numbers_are_doubles": (NumbersAreDoubles, ["numbers_beyond_2_to_the_53rd_are_exact"]),
    "names_are_not_encoded": (NamesAreNotEncoded, ["names_of_any_script_and_with_a_slash_are_one_queue", "a_group_that_backs_off_is_not_delivered"]),
    "errors_have_no_field": (ErrorsHaveNoField, ["a_negative_delay_is_an_error_of_its_member", "another_put_with_a_used_key_is_a_conflict"]),
    "batches_fail_as_one": (BatchesFailAsOne, ["a_batch_reports_the_failure_of_one_message"]),
    "trusts_any_certificate": (TrustsAnyCertificate, ["a_certificate_that_is_not_trusted_ends_the_call", "a_certificate_that_has_expired_ends_the_call",
                                                      "a_certificate_that_signs_itself_ends_the_call", "a_certificate_of_another_host_ends_the_call"]),
    "trusts_any_host": (TrustsAnyHost, ["a_certificate_of_another_host_ends_the_call"]),
    "takes_any_version": (TakesAnyVersion, ["a_server_that_is_too_new_or_too_old_is_refused"]),
    "insists_on_a_version": (InsistsOnAVersion, ["a_version_that_a_proxy_keeps_back_is_no_obstacle"]),
    "takes_any_answer": (TakesAnyAnswer, ["a_url_of_another_program_is_an_error"]),
    "silent": (Client, "all"),  # the adapter does nothing, and says that all went well
}
