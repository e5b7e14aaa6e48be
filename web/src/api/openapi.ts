// Written by tests/web/types.mjs from the OpenAPI document of the server. Do not edit: see "Types of the API" in web/README.md.
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Name: string;
        Id: string;
        LeaseToken: string;
        Duration: string;
        DurationMs: number;
        /** Format: date-time */
        Instant: string;
        InstantNumber: number;
        InstantText: string;
        InstantMs: number;
        Key: string;
        OrderKey: string;
        GroupName: string;
        Priority: number;
        Headers: {
            [key: string]: string;
        };
        RecordParts: {
            key?: string;
            key_base64?: string;
            null_value?: boolean;
            headers?: {
                name?: string;
                name_base64?: string;
                value?: string;
                value_base64?: string;
            }[];
            source?: string;
        };
        Lines: string;
        Put: {
            body?: string;
            body_base64?: string;
            json?: unknown;
            delay?: components["schemas"]["Duration"];
            delay_ms?: components["schemas"]["DurationMs"];
            due?: components["schemas"]["Instant"];
            due_ms?: components["schemas"]["InstantNumber"];
            expires_in?: components["schemas"]["Duration"];
            expires_in_ms?: components["schemas"]["DurationMs"];
            expires?: components["schemas"]["Instant"];
            expires_ms?: components["schemas"]["InstantNumber"];
            order_key?: components["schemas"]["OrderKey"];
            group?: components["schemas"]["GroupName"];
            priority?: components["schemas"]["Priority"];
            repeat?: components["schemas"]["Repeat"];
            retry?: components["schemas"]["Retry"];
            transaction?: components["schemas"]["Transaction"];
            held?: boolean;
            headers?: components["schemas"]["Headers"];
            kafka?: components["schemas"]["RecordParts"];
            content_type?: string;
            key?: components["schemas"]["Key"];
            /** @enum {unknown} */
            on_key?: "once" | "keep" | "replace";
            within?: components["schemas"]["Duration"];
            within_ms?: components["schemas"]["DurationMs"];
            imported?: components["schemas"]["Imported"];
        };
        Imported: {
            attempts?: number;
            attempts_counted?: number;
            maybe_delivered?: boolean;
            nominal_due_ms?: components["schemas"]["InstantMs"];
            retrying?: boolean;
            reason?: string;
            progress?: components["schemas"]["Progress"];
            checkpoint?: components["schemas"]["Checkpoint"];
            timeline?: components["schemas"]["PastAttempt"][];
        };
        PastAttempt: {
            attempt: number;
            started_ms?: components["schemas"]["InstantMs"];
            ended_ms: components["schemas"]["InstantMs"];
            /** @enum {unknown} */
            outcome: "done" | "failed" | "released" | "held" | "lease_lost" | "expired" | "cancelled";
            reason?: string;
            worker?: components["schemas"]["Worker"];
        };
        PutResponse: {
            id: components["schemas"]["Id"];
            state: components["schemas"]["State"];
            due: components["schemas"]["InstantText"];
            due_ms: components["schemas"]["InstantMs"];
            /** @constant */
            kept?: true;
            /** @constant */
            replaced?: true;
            /** @constant */
            ended?: true;
            hint?: string;
        };
        PutResult: components["schemas"]["PutLine"] | components["schemas"]["Problem"];
        PutLine: {
            /** @enum {unknown} */
            status: 200 | 201;
            id: components["schemas"]["Id"];
            state: components["schemas"]["State"];
            due: components["schemas"]["InstantText"];
            due_ms: components["schemas"]["InstantMs"];
            /** @constant */
            kept?: true;
            /** @constant */
            replaced?: true;
            /** @constant */
            ended?: true;
            hint?: string;
        };
        /** @enum {unknown} */
        State: "prepared" | "scheduled" | "ready" | "leased" | "retrying" | "held" | "done" | "cancelled" | "expired" | "dead";
        Message: {
            id: components["schemas"]["Id"];
            namespace?: components["schemas"]["Name"];
            queue: components["schemas"]["Name"];
            state: components["schemas"]["State"];
            due: components["schemas"]["InstantText"];
            due_ms: components["schemas"]["InstantMs"];
            answer_by?: components["schemas"]["InstantText"];
            answer_by_ms?: components["schemas"]["InstantMs"];
            checks?: components["schemas"]["Count"];
            nominal_due_ms?: components["schemas"]["InstantMs"];
            expires?: components["schemas"]["InstantText"];
            expires_ms?: components["schemas"]["InstantMs"];
            order_key?: components["schemas"]["OrderKey"];
            group?: components["schemas"]["GroupName"];
            key?: components["schemas"]["Key"];
            priority: components["schemas"]["Priority"];
            attempts: components["schemas"]["Count"];
            maybe_delivered: boolean;
            next_occurrence?: number;
            blocked_by?: components["schemas"]["BlockedBy"];
            retry?: {
                attempts?: number;
                first_ms?: components["schemas"]["DurationMs"];
                factor?: number;
                max_ms?: components["schemas"]["DurationMs"];
                jitter?: number;
            };
            repeat?: {
                every_ms: components["schemas"]["DurationMs"];
                times?: number;
                factor?: number;
                max_ms?: components["schemas"]["DurationMs"];
                until?: components["schemas"]["Instant"];
            };
            expires_in_ms?: number;
            transaction?: {
                check_back: {
                    queue?: components["schemas"]["Name"];
                    after_ms?: components["schemas"]["DurationMs"];
                    times?: number;
                };
                /** @enum {unknown} */
                otherwise?: "rollback" | "commit";
            };
            check?: components["schemas"]["Check"];
            parent?: components["schemas"]["Id"];
            schedule?: components["schemas"]["Name"];
            watchdog?: components["schemas"]["Name"];
            last_fed?: components["schemas"]["InstantText"];
            last_fed_ms?: components["schemas"]["InstantMs"];
            occurrence?: number;
            put_ms?: components["schemas"]["InstantMs"];
            lease_until_ms?: components["schemas"]["InstantMs"];
            cancel_requested?: boolean;
            delivered_ms?: components["schemas"]["InstantMs"];
            worker?: components["schemas"]["Worker"];
            progress?: components["schemas"]["Progress"];
            checkpoint?: components["schemas"]["Checkpoint"];
            timeline?: components["schemas"]["Attempt"][];
            ended?: components["schemas"]["InstantText"];
            ended_ms?: components["schemas"]["InstantMs"];
            reason?: string;
            result?: unknown;
            body?: string;
            body_base64?: string;
            json?: unknown;
            content_type?: string;
            headers?: {
                [key: string]: string;
            };
            kafka?: components["schemas"]["RecordParts"];
            traceparent?: string;
        };
        MessagePage: {
            messages: components["schemas"]["Message"][];
            cursor?: string;
        };
        Move: {
            delay?: components["schemas"]["Duration"];
            delay_ms?: components["schemas"]["DurationMs"];
            due?: components["schemas"]["Instant"];
            due_ms?: components["schemas"]["InstantNumber"];
            expires_in?: components["schemas"]["Duration"] | null;
            expires_in_ms?: components["schemas"]["DurationMs"] | null;
            expires?: components["schemas"]["Instant"] | null;
            expires_ms?: components["schemas"]["InstantNumber"] | null;
            priority?: components["schemas"]["Priority"] | null;
            retry?: {
                attempts?: number | null;
                first?: components["schemas"]["Duration"] | null;
                first_ms?: components["schemas"]["DurationMs"] | null;
                factor?: number | null;
                max?: components["schemas"]["Duration"] | null;
                max_ms?: components["schemas"]["DurationMs"] | null;
                jitter?: number | null;
            } | null;
            body?: string | null;
            body_base64?: string | null;
            json?: unknown;
            content_type?: string | null;
            headers?: {
                [key: string]: string | null;
            } | null;
            kafka?: Record<string, never> | null;
        };
        CancelResponse: {
            /** @enum {unknown} */
            outcome: "cancelled" | "cancelling";
            attempts: components["schemas"]["Count"];
            maybe_delivered: boolean;
        };
        MoveResponse: {
            /** @enum {unknown} */
            outcome: "rescheduled" | "changed";
            attempts: components["schemas"]["Count"];
            maybe_delivered: boolean;
            due?: components["schemas"]["InstantText"];
            due_ms?: components["schemas"]["InstantMs"];
        };
        FireResponse: {
            /** @constant */
            outcome: "fired";
            attempts: components["schemas"]["Count"];
            maybe_delivered: boolean;
            due?: components["schemas"]["InstantText"];
            due_ms?: components["schemas"]["InstantMs"];
        };
        HoldResponse: {
            /** @constant */
            outcome: "held";
            attempts: components["schemas"]["Count"];
            maybe_delivered: boolean;
        };
        DiscardResponse: {
            /** @constant */
            outcome: "cancelled";
            attempts: components["schemas"]["Count"];
            maybe_delivered: boolean;
        };
        KickResponse: {
            /** @constant */
            outcome: "kicked";
            attempts: components["schemas"]["Count"];
            maybe_delivered: boolean;
            due?: components["schemas"]["InstantText"];
            due_ms?: components["schemas"]["InstantMs"];
        };
        Repeat: {
            every?: components["schemas"]["Duration"];
            every_ms?: components["schemas"]["DurationMs"];
            times?: number;
            factor?: number;
            max?: components["schemas"]["Duration"];
            max_ms?: components["schemas"]["DurationMs"];
            until?: components["schemas"]["Instant"];
            until_ms?: components["schemas"]["InstantNumber"];
        };
        Retry: {
            attempts?: number;
            first?: components["schemas"]["Duration"];
            first_ms?: components["schemas"]["DurationMs"];
            factor?: number;
            max?: components["schemas"]["Duration"];
            max_ms?: components["schemas"]["DurationMs"];
            jitter?: number;
        };
        Transaction: {
            check_back: {
                queue?: components["schemas"]["Name"];
                after?: components["schemas"]["Duration"];
                after_ms?: components["schemas"]["DurationMs"];
                times?: number;
            };
            /** @enum {unknown} */
            otherwise?: "rollback" | "commit";
        };
        Check: {
            message: components["schemas"]["Id"];
            number: number;
            times: number;
            /** @enum {unknown} */
            otherwise: "rollback" | "commit";
        };
        CommitResponse: {
            id: components["schemas"]["Id"];
            /** @constant */
            outcome: "committed";
        };
        RollbackResponse: {
            id: components["schemas"]["Id"];
            /** @constant */
            outcome: "rolled_back";
        };
        Lease: {
            max?: number;
            lease?: components["schemas"]["Duration"];
            lease_ms?: components["schemas"]["DurationMs"];
            wait?: components["schemas"]["Duration"];
            wait_ms?: components["schemas"]["DurationMs"];
            min?: number;
            worker?: components["schemas"]["Worker"];
        };
        LeaseResponse: {
            messages: components["schemas"]["Delivery"][];
        };
        Delivery: {
            id: components["schemas"]["Id"];
            queue: components["schemas"]["Name"];
            lease: components["schemas"]["LeaseToken"];
            lease_until_ms: components["schemas"]["InstantMs"];
            group?: components["schemas"]["GroupName"];
            key?: components["schemas"]["Key"];
            checkpoint?: components["schemas"]["Checkpoint"];
            body?: string;
            body_base64?: string;
            json?: unknown;
            content_type?: string;
            headers?: {
                [key: string]: string;
            };
            kafka?: components["schemas"]["RecordParts"];
            traceparent?: string;
            check?: components["schemas"]["Check"];
            parent?: components["schemas"]["Id"];
            schedule?: components["schemas"]["Name"];
            watchdog?: components["schemas"]["Name"];
            last_fed_ms?: components["schemas"]["InstantMs"];
            occurrence: components["schemas"]["Count"];
            due_ms: components["schemas"]["InstantMs"];
            delivered_ms: components["schemas"]["InstantMs"];
            lateness_ms: components["schemas"]["LatenessMs"];
            wait_ms: components["schemas"]["WaitMs"];
            attempt: number;
            maybe_delivered: boolean;
        };
        Ack: {
            result?: unknown;
        };
        Fail: {
            dead?: boolean;
            reason?: string;
            retry_in?: components["schemas"]["Duration"];
            retry_in_ms?: components["schemas"]["DurationMs"];
        };
        Worker: string;
        Progress: unknown;
        Checkpoint: unknown;
        Attempt: {
            attempt: number;
            started: components["schemas"]["InstantText"];
            started_ms: components["schemas"]["InstantMs"];
            ended?: components["schemas"]["InstantText"];
            ended_ms?: components["schemas"]["InstantMs"];
            /** @enum {unknown} */
            outcome?: "done" | "failed" | "released" | "held" | "lease_lost" | "expired" | "cancelled";
            reason?: string;
            worker?: components["schemas"]["Worker"];
        };
        Extend: {
            lease?: components["schemas"]["Duration"];
            lease_ms?: components["schemas"]["DurationMs"];
            progress?: components["schemas"]["Progress"];
            checkpoint?: components["schemas"]["Checkpoint"];
        };
        Release: {
            delay?: components["schemas"]["Duration"];
            delay_ms?: components["schemas"]["DurationMs"];
        };
        AckResponse: {
            /** @constant */
            outcome: "done";
        };
        FailResponse: {
            /** @enum {unknown} */
            outcome: "retrying" | "dead" | "purged" | "cancelled";
            due?: components["schemas"]["InstantText"];
            due_ms?: components["schemas"]["InstantMs"];
        };
        ExtendResponse: {
            /** @constant */
            outcome: "extended";
            lease_until_ms?: components["schemas"]["InstantMs"];
            /** @constant */
            cancel_requested?: true;
        };
        ReleaseResponse: {
            /** @enum {unknown} */
            outcome: "released" | "purged" | "cancelled";
            due?: components["schemas"]["InstantText"];
            due_ms?: components["schemas"]["InstantMs"];
        };
        HoldLeaseResponse: {
            /** @enum {unknown} */
            outcome: "held" | "purged" | "cancelled";
        };
        AckEach: {
            token: components["schemas"]["LeaseToken"];
            result?: unknown;
        };
        FailEach: {
            token: components["schemas"]["LeaseToken"];
            dead?: boolean;
            reason?: string;
            retry_in?: components["schemas"]["Duration"];
            retry_in_ms?: components["schemas"]["DurationMs"];
        };
        ExtendEach: {
            token: components["schemas"]["LeaseToken"];
            lease?: components["schemas"]["Duration"];
            lease_ms?: components["schemas"]["DurationMs"];
            progress?: components["schemas"]["Progress"];
            checkpoint?: components["schemas"]["Checkpoint"];
        };
        ReleaseEach: {
            token: components["schemas"]["LeaseToken"];
            delay?: components["schemas"]["Duration"];
            delay_ms?: components["schemas"]["DurationMs"];
        };
        AckMany: {
            leases: (components["schemas"]["LeaseToken"] | components["schemas"]["AckEach"])[];
            result?: unknown;
        };
        FailMany: {
            leases: (components["schemas"]["LeaseToken"] | components["schemas"]["FailEach"])[];
            dead?: boolean;
            reason?: string;
            retry_in?: components["schemas"]["Duration"];
            retry_in_ms?: components["schemas"]["DurationMs"];
        };
        ExtendMany: {
            leases: (components["schemas"]["LeaseToken"] | components["schemas"]["ExtendEach"])[];
            lease?: components["schemas"]["Duration"];
            lease_ms?: components["schemas"]["DurationMs"];
            progress?: components["schemas"]["Progress"];
            checkpoint?: components["schemas"]["Checkpoint"];
        };
        ReleaseMany: {
            leases: (components["schemas"]["LeaseToken"] | components["schemas"]["ReleaseEach"])[];
            delay?: components["schemas"]["Duration"];
            delay_ms?: components["schemas"]["DurationMs"];
        };
        AckResult: {
            /** @constant */
            status: 200;
            /** @constant */
            outcome: "done";
        };
        AckManyResponse: {
            results: (components["schemas"]["AckResult"] | components["schemas"]["Problem"])[];
        };
        FailResult: {
            /** @constant */
            status: 200;
            /** @enum {unknown} */
            outcome: "retrying" | "dead" | "purged" | "cancelled";
            due?: components["schemas"]["InstantText"];
            due_ms?: components["schemas"]["InstantMs"];
        };
        FailManyResponse: {
            results: (components["schemas"]["FailResult"] | components["schemas"]["Problem"])[];
        };
        ExtendResult: {
            /** @constant */
            status: 200;
            /** @constant */
            outcome: "extended";
            lease_until_ms?: components["schemas"]["InstantMs"];
            /** @constant */
            cancel_requested?: true;
        };
        ExtendManyResponse: {
            results: (components["schemas"]["ExtendResult"] | components["schemas"]["Problem"])[];
        };
        ReleaseResult: {
            /** @constant */
            status: 200;
            /** @enum {unknown} */
            outcome: "released" | "purged" | "cancelled";
            due?: components["schemas"]["InstantText"];
            due_ms?: components["schemas"]["InstantMs"];
        };
        ReleaseManyResponse: {
            results: (components["schemas"]["ReleaseResult"] | components["schemas"]["Problem"])[];
        };
        QueueSettings: {
            target?: "pull" | components["schemas"]["WebhookTarget"] | components["schemas"]["KafkaTarget"];
            paused?: boolean;
            lease?: components["schemas"]["Duration"];
            lease_ms?: components["schemas"]["DurationMs"];
            retry?: components["schemas"]["Retry"];
            rate?: components["schemas"]["Rate"];
            limits?: {
                pending?: number;
                leased?: number;
            };
            groups?: {
                leased?: number;
                rate?: components["schemas"]["Rate"];
            };
        };
        NamespaceSettings: {
            weight?: number;
            limits?: {
                pending?: number;
                queues?: number;
                schedules?: number;
                watchdogs?: number;
                put_rate?: number;
            };
        };
        Rate: {
            count: number;
            per?: components["schemas"]["Duration"];
            per_ms?: components["schemas"]["DurationMs"];
            burst?: number;
        };
        Namespace: {
            namespace: components["schemas"]["Name"];
            pending: components["schemas"]["Count"];
            queues: components["schemas"]["Count"];
            schedules: components["schemas"]["Count"];
            watchdogs: components["schemas"]["Count"];
            settings: components["schemas"]["NamespaceSettings"];
        };
        RemovedNamespace: {
            namespace: components["schemas"]["Name"];
            removed: boolean;
        };
        NamespacePage: {
            namespaces: components["schemas"]["Namespace"][];
            cursor?: string;
        };
        TokenId: string;
        Scopes: ("put" | "read" | "consume" | "cancel" | "schedule" | "admin")[];
        TokenRates: {
            requests_per_second?: number;
            bytes_per_second?: number;
        };
        TokenMembers: {
            scopes: components["schemas"]["Scopes"];
            namespaces?: components["schemas"]["Name"][];
            queues?: components["schemas"]["Name"];
            expires?: components["schemas"]["Instant"];
            expires_ms?: components["schemas"]["InstantNumber"];
            expires_in?: components["schemas"]["Duration"];
            expires_in_ms?: components["schemas"]["DurationMs"];
            description?: string;
            limits?: components["schemas"]["TokenRates"];
            certificate_names?: string[];
        };
        Token: {
            id: components["schemas"]["TokenId"];
            token?: string;
            description?: string;
            scopes: components["schemas"]["Scopes"];
            namespaces?: components["schemas"]["Name"][];
            queues?: components["schemas"]["Name"];
            limits?: components["schemas"]["TokenRates"];
            certificate_names?: string[];
            created: components["schemas"]["InstantText"];
            created_ms: number;
            expires?: components["schemas"]["InstantText"];
            expires_ms?: number;
            old_until?: components["schemas"]["InstantText"];
            old_until_ms?: number;
            last_used?: components["schemas"]["InstantText"];
            last_used_ms?: number;
        };
        NewToken: WithRequired<components["schemas"]["Token"], "token">;
        RotateToken: {
            keep_old?: components["schemas"]["Duration"];
            keep_old_ms?: number;
        };
        RemovedToken: {
            id: components["schemas"]["TokenId"];
            removed: boolean;
        };
        LatenessRow: {
            time_ms: number;
            count: components["schemas"]["Count"];
            p50_ms: components["schemas"]["Count"];
            p99_ms: components["schemas"]["Count"];
            max_ms: components["schemas"]["Count"];
            wait_p50_ms: components["schemas"]["Count"];
            wait_p99_ms: components["schemas"]["Count"];
            wait_max_ms: components["schemas"]["Count"];
        };
        Lateness: {
            /** @constant */
            row_ms: 5000;
            from_ms: number;
            until_ms: number;
            rows: components["schemas"]["LatenessRow"][];
            queues?: {
                namespace?: components["schemas"]["Name"];
                queue: components["schemas"]["Name"];
                count: components["schemas"]["Count"];
                p99_ms: components["schemas"]["Count"];
                max_ms: components["schemas"]["Count"];
                wait_p99_ms: components["schemas"]["Count"];
                wait_max_ms: components["schemas"]["Count"];
            }[];
        };
        Wheel: {
            now_ms: number;
            /** @constant */
            tick_ms: 1;
            timers: components["schemas"]["Count"];
            late: components["schemas"]["Count"];
            indexed_only: components["schemas"]["Count"];
            levels: {
                level: number;
                slot_ms: number;
                /** @constant */
                slots: 128;
                position: number;
                counts: [
                    number,
                    number
                ][];
            }[];
        };
        Session: {
            tokens_required: boolean;
            token: {
                id: components["schemas"]["TokenId"];
                description?: string;
                scopes: components["schemas"]["Scopes"];
                namespaces?: components["schemas"]["Name"][];
                queues?: components["schemas"]["Name"];
                expires?: components["schemas"]["InstantText"];
                expires_ms?: number;
            } | null;
        };
        TokenPage: {
            tokens: components["schemas"]["Token"][];
            cursor?: string;
        };
        WebhookTarget: {
            webhook: components["schemas"]["Webhook"];
        };
        Webhook: {
            url: string;
            secrets?: string[];
            timeout?: components["schemas"]["Duration"];
            timeout_ms?: components["schemas"]["DurationMs"];
            concurrency?: number;
            rate?: number;
            headers?: {
                [key: string]: string;
            };
        };
        KafkaTarget: {
            kafka: components["schemas"]["KafkaTopic"];
        };
        KafkaTopic: {
            topic: string;
            key?: string;
            partition?: number;
            /** @enum {unknown} */
            delivery?: "exactly_once" | "at_least_once";
        };
        Queue: {
            namespace?: components["schemas"]["Name"];
            queue: components["schemas"]["Name"];
            paused: boolean;
            /** @constant */
            paused_by?: "target";
            pending: components["schemas"]["Count"];
            scheduled: components["schemas"]["Count"];
            prepared: components["schemas"]["Count"];
            ready: components["schemas"]["Count"];
            leased: components["schemas"]["Count"];
            held: components["schemas"]["Count"];
            dead: components["schemas"]["Count"];
            waiters: components["schemas"]["Count"];
            backlog_on_disk: boolean;
            purge?: {
                started: components["schemas"]["InstantText"];
                started_ms: components["schemas"]["InstantMs"];
                purged: components["schemas"]["Count"];
            };
            discard?: {
                started: components["schemas"]["InstantText"];
                started_ms: components["schemas"]["InstantMs"];
                died_before: components["schemas"]["InstantText"];
                died_before_ms: components["schemas"]["InstantMs"];
                discarded: components["schemas"]["Count"];
            };
            webhook?: {
                /** @enum {unknown} */
                state: "ok" | "probing" | "backing_off" | "gone" | "misconfigured" | "disabled";
                /** @enum {unknown} */
                reason?: "failures" | "retry_after";
                until?: components["schemas"]["InstantText"];
                until_ms?: components["schemas"]["InstantMs"];
                in_flight: components["schemas"]["Count"];
            };
            kafka?: {
                /** @enum {unknown} */
                state: "ok" | "probing" | "backing_off" | "disabled";
                /** @constant */
                reason?: "failures";
                until?: components["schemas"]["InstantText"];
                until_ms?: components["schemas"]["InstantMs"];
                in_flight: components["schemas"]["Count"];
            };
            settings: {
                target?: "pull" | {
                    webhook: {
                        url: string;
                        secrets?: string[];
                        timeout_ms?: components["schemas"]["DurationMs"];
                        concurrency?: number;
                        rate?: number;
                        headers?: {
                            [key: string]: string;
                        };
                    };
                } | components["schemas"]["KafkaTarget"];
                paused?: boolean;
                lease_ms?: components["schemas"]["DurationMs"];
                retry?: {
                    attempts?: number;
                    first_ms?: components["schemas"]["DurationMs"];
                    factor?: number;
                    max_ms?: components["schemas"]["DurationMs"];
                    jitter?: number;
                };
                rate?: {
                    count: number;
                    per_ms?: components["schemas"]["DurationMs"];
                    burst?: number;
                };
                limits?: {
                    pending?: number;
                    leased?: number;
                };
                groups?: {
                    leased?: number;
                    rate?: {
                        count: number;
                        per_ms?: components["schemas"]["DurationMs"];
                        burst?: number;
                    };
                };
            };
            in_force?: {
                lease_ms: components["schemas"]["DurationMs"];
                retry: {
                    attempts: number;
                    first_ms: components["schemas"]["DurationMs"];
                    factor: number;
                    max_ms: components["schemas"]["DurationMs"];
                    jitter: number;
                };
            };
        };
        RemovedQueue: {
            namespace?: components["schemas"]["Name"];
            queue: components["schemas"]["Name"];
            removed: boolean;
        };
        GroupSettings: {
            leased?: number;
            rate?: components["schemas"]["Rate"];
            weight?: number;
        };
        Group: {
            namespace?: components["schemas"]["Name"];
            queue: components["schemas"]["Name"];
            group: components["schemas"]["GroupName"];
            ready: components["schemas"]["Count"];
            /** @constant */
            ready_is_minimum?: true;
            leased: components["schemas"]["Count"];
            oldest_due?: components["schemas"]["InstantText"];
            oldest_due_ms?: components["schemas"]["InstantMs"];
            /** @enum {unknown} */
            limited_by?: "leased" | "rate" | "backoff" | "queue_leased" | "queue_rate";
            limited_since?: components["schemas"]["InstantText"];
            limited_since_ms?: components["schemas"]["InstantMs"];
            backoff_until?: components["schemas"]["InstantText"];
            backoff_until_ms?: components["schemas"]["InstantMs"];
            settings: {
                leased?: number;
                rate?: {
                    count: number;
                    per_ms?: components["schemas"]["DurationMs"];
                    burst?: number;
                };
                weight?: number;
            };
        };
        GroupPage: {
            groups: components["schemas"]["Group"][];
            known: components["schemas"]["Count"];
            more: boolean;
        };
        GroupBackoff: {
            for?: components["schemas"]["Duration"];
            for_ms?: number;
        };
        Redrive: {
            max?: number;
        };
        RedriveResponse: {
            redriven: components["schemas"]["Count"];
            more: boolean;
        };
        Discard: {
            died_before?: components["schemas"]["Instant"];
            died_before_ms?: components["schemas"]["InstantNumber"];
        };
        QueuePage: {
            queues: components["schemas"]["Queue"][];
            cursor?: string;
        };
        ScheduleSettings: {
            queue: components["schemas"]["Name"];
            cron?: string;
            every?: components["schemas"]["Duration"];
            every_ms?: components["schemas"]["DurationMs"];
            iso?: string;
            at?: string;
            zone?: string;
            /** @enum {string} */
            dst?: "shift" | "skip";
            /** @enum {string} */
            dst_repeat?: "first" | "both";
            closed?: string;
            start?: components["schemas"]["Instant"];
            start_ms?: components["schemas"]["InstantNumber"];
            end?: components["schemas"]["Instant"];
            end_ms?: components["schemas"]["InstantNumber"];
            times?: number;
            jitter?: components["schemas"]["Duration"];
            jitter_ms?: components["schemas"]["DurationMs"];
            /** @enum {string} */
            misfire?: "once" | "all" | "skip";
            misfire_window?: components["schemas"]["Duration"];
            misfire_window_ms?: components["schemas"]["DurationMs"];
            /** @enum {string} */
            overlap?: "allow" | "skip" | "queue_one";
            paused?: boolean;
            body?: string;
            body_base64?: string;
            json?: unknown;
            headers?: components["schemas"]["Headers"];
            kafka?: components["schemas"]["RecordParts"];
            content_type?: string;
            priority?: components["schemas"]["Priority"];
            order_key?: components["schemas"]["OrderKey"];
            group?: components["schemas"]["GroupName"];
            expires_in?: components["schemas"]["Duration"];
            expires_in_ms?: components["schemas"]["DurationMs"];
            retry?: components["schemas"]["Retry"];
        };
        /** @enum {unknown} */
        BlockedBy: "queue_full" | "namespace_full" | "queue_limit" | "too_many_puts" | "catching_up" | "store_full" | "queue_leased" | "queue_rate" | "group_leased" | "group_rate" | "group_backoff";
        Schedule: {
            namespace?: components["schemas"]["Name"];
            schedule: components["schemas"]["Name"];
            /** @enum {string} */
            state: "active" | "paused" | "ended" | "invalid_zone";
            paused: boolean;
            revision: components["schemas"]["Count"];
            created: components["schemas"]["InstantText"];
            created_ms: components["schemas"]["InstantMs"];
            next?: components["schemas"]["InstantText"];
            next_ms?: components["schemas"]["InstantMs"];
            next_occurrence?: components["schemas"]["Count"];
            blocked_by?: components["schemas"]["BlockedBy"];
            runs: {
                made: components["schemas"]["Count"];
                late: components["schemas"]["Count"];
                manual: components["schemas"]["Count"];
                skipped: components["schemas"]["Count"];
                merged: components["schemas"]["Count"];
            };
            last_run?: {
                id: components["schemas"]["Id"];
                nominal: components["schemas"]["InstantText"];
                nominal_ms: components["schemas"]["InstantMs"];
            };
            waiting_run?: {
                occurrence: components["schemas"]["Count"];
                nominal: components["schemas"]["InstantText"];
                nominal_ms: components["schemas"]["InstantMs"];
            };
            last_skipped?: {
                /** @enum {string} */
                reason: "missed" | "too_old" | "paused" | "overlap";
                count: components["schemas"]["Count"];
                from: components["schemas"]["InstantText"];
                from_ms: components["schemas"]["InstantMs"];
                to: components["schemas"]["InstantText"];
                to_ms: components["schemas"]["InstantMs"];
            };
            zone_data: string;
            words: components["schemas"]["RuleWords"];
            settings: {
                queue: components["schemas"]["Name"];
                cron?: string;
                every_ms?: components["schemas"]["DurationMs"];
                iso?: string;
                at?: string;
                zone?: string;
                /** @enum {string} */
                dst?: "shift" | "skip";
                /** @enum {string} */
                dst_repeat?: "first" | "both";
                closed?: string;
                start?: components["schemas"]["Instant"];
                end?: components["schemas"]["Instant"];
                times?: number;
                jitter_ms?: components["schemas"]["DurationMs"];
                /** @enum {string} */
                misfire: "once" | "all" | "skip";
                misfire_window_ms?: components["schemas"]["DurationMs"];
                /** @enum {string} */
                overlap: "allow" | "skip" | "queue_one";
                body?: string;
                body_base64?: string;
                json?: unknown;
                headers?: components["schemas"]["Headers"];
                kafka?: components["schemas"]["RecordParts"];
                content_type?: string;
                priority?: components["schemas"]["Priority"];
                order_key?: components["schemas"]["OrderKey"];
                group?: components["schemas"]["GroupName"];
                expires_in_ms?: components["schemas"]["DurationMs"];
                retry?: {
                    attempts?: number;
                    first_ms?: components["schemas"]["DurationMs"];
                    factor?: number;
                    max_ms?: components["schemas"]["DurationMs"];
                    jitter?: number;
                };
            };
        };
        RemovedSchedule: {
            namespace?: components["schemas"]["Name"];
            schedule: components["schemas"]["Name"];
            removed: boolean;
        };
        SchedulePage: {
            schedules: components["schemas"]["Schedule"][];
            cursor?: string;
        };
        WatchdogPut: {
            queue: components["schemas"]["Name"];
            timeout?: components["schemas"]["Duration"];
            timeout_ms?: components["schemas"]["DurationMs"];
            max?: components["schemas"]["Duration"];
            max_ms?: components["schemas"]["DurationMs"];
            repeat_every?: components["schemas"]["Duration"];
            repeat_every_ms?: components["schemas"]["DurationMs"];
            feed?: boolean;
            body?: string;
            body_base64?: string;
            json?: unknown;
            headers?: components["schemas"]["Headers"];
            kafka?: components["schemas"]["RecordParts"];
            content_type?: string;
            priority?: components["schemas"]["Priority"];
            order_key?: components["schemas"]["OrderKey"];
            group?: components["schemas"]["GroupName"];
            expires_in?: components["schemas"]["Duration"];
            expires_in_ms?: components["schemas"]["DurationMs"];
            retry?: components["schemas"]["Retry"];
        };
        Watchdog: {
            namespace?: components["schemas"]["Name"];
            watchdog: components["schemas"]["Name"];
            /** @enum {string} */
            state: "armed" | "asleep";
            revision: components["schemas"]["Count"];
            created: components["schemas"]["InstantText"];
            created_ms: components["schemas"]["InstantMs"];
            due?: components["schemas"]["InstantText"];
            due_ms?: components["schemas"]["InstantMs"];
            blocked_by?: components["schemas"]["BlockedBy"];
            late?: boolean;
            last_fed: components["schemas"]["InstantText"];
            last_fed_ms: components["schemas"]["InstantMs"];
            feeds: components["schemas"]["Count"];
            fired: number;
            merged: number;
            overdue?: {
                due: components["schemas"]["InstantText"];
                due_ms: components["schemas"]["InstantMs"];
                last_fed: components["schemas"]["InstantText"];
                last_fed_ms: components["schemas"]["InstantMs"];
            };
            last_fired?: {
                id: components["schemas"]["Id"];
                due: components["schemas"]["InstantText"];
                due_ms: components["schemas"]["InstantMs"];
            };
            settings: {
                queue: components["schemas"]["Name"];
                timeout_ms: components["schemas"]["DurationMs"];
                max_ms?: components["schemas"]["DurationMs"];
                repeat_every_ms?: components["schemas"]["DurationMs"];
                body?: string;
                body_base64?: string;
                json?: unknown;
                headers?: components["schemas"]["Headers"];
                kafka?: components["schemas"]["RecordParts"];
                content_type?: string;
                priority?: components["schemas"]["Priority"];
                order_key?: components["schemas"]["OrderKey"];
                group?: components["schemas"]["GroupName"];
                expires_in_ms?: components["schemas"]["DurationMs"];
                retry?: {
                    attempts?: number;
                    first_ms?: components["schemas"]["DurationMs"];
                    factor?: number;
                    max_ms?: components["schemas"]["DurationMs"];
                    jitter?: number;
                };
            };
        };
        FeedResponse: {
            namespace?: components["schemas"]["Name"];
            watchdog: components["schemas"]["Name"];
            due: components["schemas"]["InstantText"];
            due_ms: components["schemas"]["InstantMs"];
            late: boolean;
            fired: number;
        };
        RemovedWatchdog: {
            namespace?: components["schemas"]["Name"];
            watchdog: components["schemas"]["Name"];
            removed: boolean;
        };
        WatchdogPage: {
            watchdogs: components["schemas"]["Watchdog"][];
            cursor?: string;
        };
        Preview: {
            namespace?: components["schemas"]["Name"];
            schedule: components["schemas"]["Name"];
            paused: boolean;
            zone: string;
            zone_data: string;
            words: components["schemas"]["RuleWords"];
            times: {
                occurrence?: components["schemas"]["Count"];
                nominal: components["schemas"]["InstantText"];
                nominal_ms: components["schemas"]["InstantMs"];
                local: components["schemas"]["LocalText"];
                due: components["schemas"]["InstantText"];
                due_ms: components["schemas"]["InstantMs"];
                /** @enum {string} */
                clock_change?: "shifted" | "first_pass" | "second_pass";
            }[];
            excluded: {
                nominal: components["schemas"]["InstantText"];
                nominal_ms: components["schemas"]["InstantMs"];
                local: components["schemas"]["LocalText"];
                /** @enum {string} */
                reason: "closed_day" | "skipped_time" | "repeated_time";
            }[];
            /** @constant */
            more_excluded?: true;
        };
        RuleWords: {
            en: string;
            zh: string;
        };
        LocalText: string;
        HistoryPage: {
            ended: components["schemas"]["Ended"][];
            cursor?: string;
        };
        Ended: {
            id: components["schemas"]["Id"];
            queue: components["schemas"]["Name"];
            /** @enum {unknown} */
            outcome: "done" | "cancelled" | "expired" | "dead";
            cause: string;
            ended: components["schemas"]["InstantText"];
            ended_ms: components["schemas"]["InstantMs"];
            lateness_ms?: components["schemas"]["LatenessMs"];
            wait_ms?: components["schemas"]["WaitMs"];
            attempts: components["schemas"]["Count"];
            maybe_delivered: boolean;
        };
        Forecast: {
            now: components["schemas"]["InstantText"];
            now_ms: components["schemas"]["InstantMs"];
            queue?: components["schemas"]["Name"];
            exact: boolean;
            step_ms: number;
            total: components["schemas"]["DueCounts"];
            minutes: {
                start: components["schemas"]["InstantText"];
                start_ms: components["schemas"]["InstantMs"];
                due: components["schemas"]["Count"];
                scheduled: components["schemas"]["Count"];
                retrying: components["schemas"]["Count"];
                recurring: components["schemas"]["Count"];
                runs: components["schemas"]["Count"];
                at_least?: boolean;
            }[];
        };
        DueCounts: {
            due: components["schemas"]["Count"];
            scheduled: components["schemas"]["Count"];
            retrying: components["schemas"]["Count"];
            recurring: components["schemas"]["Count"];
            runs: components["schemas"]["Count"];
        };
        Count: number;
        LatenessMs: number;
        WaitMs: number;
        Stats: {
            instance: string;
            version: string;
            disk_free_bytes: components["schemas"]["Count"];
            server_time_ms: components["schemas"]["InstantMs"];
            pending: components["schemas"]["Count"];
            ready: components["schemas"]["Count"];
            leased: components["schemas"]["Count"];
            waiters: components["schemas"]["Count"];
            dead_letters: components["schemas"]["Count"];
            accepted: components["schemas"]["Count"];
            delivered: components["schemas"]["Count"];
            done: components["schemas"]["Count"];
            failed: components["schemas"]["Count"];
            cancelled: components["schemas"]["Count"];
            expired: components["schemas"]["Count"];
            rescheduled: components["schemas"]["Count"];
            leases_lost: components["schemas"]["Count"];
            dead: components["schemas"]["Count"];
            held: components["schemas"]["Count"];
            requeued: components["schemas"]["Count"];
            prepared: components["schemas"]["Count"];
            committed: components["schemas"]["Count"];
            rolled_back: components["schemas"]["Count"];
            unanswered: components["schemas"]["Count"];
            checks: components["schemas"]["Count"];
            commits: components["schemas"]["Count"];
            in_memory: components["schemas"]["Count"];
            unsealed_segments: components["schemas"]["Count"];
            puts_stalled: boolean;
            lateness_p50_ms: components["schemas"]["Count"];
            lateness_p99_ms: components["schemas"]["Count"];
            lateness_max_ms: components["schemas"]["Count"];
            wait_p50_ms: components["schemas"]["Count"];
            wait_p99_ms: components["schemas"]["Count"];
            wait_max_ms: components["schemas"]["Count"];
            queue_count: components["schemas"]["Count"];
            queues: components["schemas"]["QueueStats"][];
            kafka?: {
                brokers_up: components["schemas"]["Count"];
                log?: {
                    /** @enum {unknown} */
                    role: "owner";
                    /** @enum {unknown} */
                    state: "writing" | "waiting";
                    /** @enum {unknown} */
                    topic_state: "safe" | "unsafe";
                    epoch: components["schemas"]["Count"];
                    first_offset: components["schemas"]["Count"];
                    next_offset: components["schemas"]["Count"];
                    commits: components["schemas"]["Count"];
                };
                out: {
                    [key: string]: components["schemas"]["Count"];
                };
                in: {
                    records: components["schemas"]["Count"];
                    messages: components["schemas"]["Count"];
                    errors: components["schemas"]["Count"];
                    partitions: {
                        topic: string;
                        partition?: components["schemas"]["Count"];
                        /** @enum {unknown} */
                        state: "reading" | "waiting" | "stopped";
                        reason?: string;
                        position?: components["schemas"]["Count"];
                        lag?: components["schemas"]["Count"];
                    }[];
                };
            };
        };
        QueueStats: {
            namespace?: components["schemas"]["Name"];
            queue: components["schemas"]["Name"];
            pending: components["schemas"]["Count"];
            ready: components["schemas"]["Count"];
            leased: components["schemas"]["Count"];
            waiters: components["schemas"]["Count"];
            dead: components["schemas"]["Count"];
            paused: boolean;
            backlog_on_disk: boolean;
            oldest_due_ms?: number;
        };
        Clock: {
            /** Format: date-time */
            server_time: string;
            server_time_ms: components["schemas"]["InstantMs"];
            wall_clock_ms: number;
            wall_clock_ahead_ms: number;
            /** @enum {string} */
            state: "steady" | "slow" | "quarantine" | "held" | "test";
            /** @enum {string} */
            on_jump: "hold" | "accept";
            jumps: number;
        };
        AdvanceClock: {
            by?: components["schemas"]["Duration"];
            by_ms?: components["schemas"]["DurationMs"];
            to?: components["schemas"]["Instant"];
            to_ms?: components["schemas"]["InstantNumber"];
        };
        Readiness: {
            ready: boolean;
            version: string;
            reason?: string;
        };
        Problem: {
            type: string;
            title: string;
            status: number;
            /** @enum {unknown} */
            code: "already_cancelled" | "already_committed" | "already_dead" | "already_delivered" | "already_expired" | "already_rolled_back" | "already_waiting" | "audit_unavailable" | "bad_base64" | "bad_certificate_name" | "bad_content_type" | "bad_cron" | "bad_cursor" | "bad_duration" | "bad_exclusion" | "bad_group" | "bad_id" | "bad_instant" | "bad_interval" | "bad_json" | "bad_kafka_target" | "bad_key" | "bad_lease_token" | "bad_max" | "bad_message_header" | "bad_min" | "bad_namespace" | "bad_order_key" | "bad_parameter" | "bad_path" | "bad_policy" | "bad_progress" | "bad_queue_name" | "bad_request" | "bad_schedule_name" | "bad_scope" | "bad_state" | "bad_token" | "bad_token_id" | "bad_utf8" | "bad_watchdog_name" | "bad_webhook_header" | "bad_webhook_secret" | "bad_webhook_url" | "bad_worker" | "bad_zone" | "batch_too_large" | "body_too_large" | "certificate_name_taken" | "checkpoint_too_large" | "clock_not_held" | "conflicting_members" | "delay_too_long" | "duplicate_member" | "duplicate_parameter" | "expectation_failed" | "expires_too_soon" | "forbidden" | "forbidden_address" | "foreign_host" | "foreign_origin" | "gone" | "group_limit" | "header_too_large" | "headers_too_large" | "http_version" | "in_flight" | "internal" | "kafka_loop" | "kafka_not_configured" | "key_conflict" | "last_admin" | "lease_ended" | "lease_too_long" | "lease_too_short" | "log_unavailable" | "method_not_allowed" | "missing_member" | "missing_parameter" | "namespace_full" | "namespace_limit" | "negative_duration" | "never_due" | "no_owner" | "not_a_test_clock" | "not_implemented" | "not_transactional" | "not_waiting" | "other_node" | "out_of_range" | "overloaded" | "queue_full" | "queue_limit" | "queue_not_empty" | "repeats" | "request_timeout" | "schedule_limit" | "store_full" | "stream_limit" | "target_too_long" | "tls_required" | "token_expired" | "token_limit" | "token_required" | "too_busy" | "too_deep" | "too_many_failed_tokens" | "too_many_members" | "too_many_puts" | "too_many_requests" | "unknown_id" | "unknown_key" | "unknown_member" | "unknown_namespace" | "unknown_parameter" | "unknown_path" | "unknown_queue" | "unknown_schedule" | "unknown_token" | "unknown_watchdog" | "unsupported_content_coding" | "unsupported_media_type" | "unsupported_target" | "wait_too_long" | "waiter_limit" | "watchdog_limit" | "wrong_type";
            detail: string;
            field?: string;
            /** @enum {unknown} */
            outcome?: "cancelled" | "waiting" | "in_flight" | "delivered" | "dead" | "expired" | "gone";
            attempts?: components["schemas"]["Count"];
            maybe_delivered?: boolean;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type Name = components['schemas']['Name'];
export type Id = components['schemas']['Id'];
export type LeaseToken = components['schemas']['LeaseToken'];
export type Duration = components['schemas']['Duration'];
export type DurationMs = components['schemas']['DurationMs'];
export type Instant = components['schemas']['Instant'];
export type InstantNumber = components['schemas']['InstantNumber'];
export type InstantText = components['schemas']['InstantText'];
export type InstantMs = components['schemas']['InstantMs'];
export type Key = components['schemas']['Key'];
export type OrderKey = components['schemas']['OrderKey'];
export type GroupName = components['schemas']['GroupName'];
export type Priority = components['schemas']['Priority'];
export type Headers = components['schemas']['Headers'];
export type RecordParts = components['schemas']['RecordParts'];
export type Lines = components['schemas']['Lines'];
export type Put = components['schemas']['Put'];
export type Imported = components['schemas']['Imported'];
export type PastAttempt = components['schemas']['PastAttempt'];
export type PutResponse = components['schemas']['PutResponse'];
export type PutResult = components['schemas']['PutResult'];
export type PutLine = components['schemas']['PutLine'];
export type State = components['schemas']['State'];
export type Message = components['schemas']['Message'];
export type MessagePage = components['schemas']['MessagePage'];
export type Move = components['schemas']['Move'];
export type CancelResponse = components['schemas']['CancelResponse'];
export type MoveResponse = components['schemas']['MoveResponse'];
export type FireResponse = components['schemas']['FireResponse'];
export type HoldResponse = components['schemas']['HoldResponse'];
export type DiscardResponse = components['schemas']['DiscardResponse'];
export type KickResponse = components['schemas']['KickResponse'];
export type Repeat = components['schemas']['Repeat'];
export type Retry = components['schemas']['Retry'];
export type Transaction = components['schemas']['Transaction'];
export type Check = components['schemas']['Check'];
export type CommitResponse = components['schemas']['CommitResponse'];
export type RollbackResponse = components['schemas']['RollbackResponse'];
export type Lease = components['schemas']['Lease'];
export type LeaseResponse = components['schemas']['LeaseResponse'];
export type Delivery = components['schemas']['Delivery'];
export type Ack = components['schemas']['Ack'];
export type Fail = components['schemas']['Fail'];
export type Worker = components['schemas']['Worker'];
export type Progress = components['schemas']['Progress'];
export type Checkpoint = components['schemas']['Checkpoint'];
export type Attempt = components['schemas']['Attempt'];
export type Extend = components['schemas']['Extend'];
export type Release = components['schemas']['Release'];
export type AckResponse = components['schemas']['AckResponse'];
export type FailResponse = components['schemas']['FailResponse'];
export type ExtendResponse = components['schemas']['ExtendResponse'];
export type ReleaseResponse = components['schemas']['ReleaseResponse'];
export type HoldLeaseResponse = components['schemas']['HoldLeaseResponse'];
export type AckEach = components['schemas']['AckEach'];
export type FailEach = components['schemas']['FailEach'];
export type ExtendEach = components['schemas']['ExtendEach'];
export type ReleaseEach = components['schemas']['ReleaseEach'];
export type AckMany = components['schemas']['AckMany'];
export type FailMany = components['schemas']['FailMany'];
export type ExtendMany = components['schemas']['ExtendMany'];
export type ReleaseMany = components['schemas']['ReleaseMany'];
export type AckResult = components['schemas']['AckResult'];
export type AckManyResponse = components['schemas']['AckManyResponse'];
export type FailResult = components['schemas']['FailResult'];
export type FailManyResponse = components['schemas']['FailManyResponse'];
export type ExtendResult = components['schemas']['ExtendResult'];
export type ExtendManyResponse = components['schemas']['ExtendManyResponse'];
export type ReleaseResult = components['schemas']['ReleaseResult'];
export type ReleaseManyResponse = components['schemas']['ReleaseManyResponse'];
export type QueueSettings = components['schemas']['QueueSettings'];
export type NamespaceSettings = components['schemas']['NamespaceSettings'];
export type Rate = components['schemas']['Rate'];
export type Namespace = components['schemas']['Namespace'];
export type RemovedNamespace = components['schemas']['RemovedNamespace'];
export type NamespacePage = components['schemas']['NamespacePage'];
export type TokenId = components['schemas']['TokenId'];
export type Scopes = components['schemas']['Scopes'];
export type TokenRates = components['schemas']['TokenRates'];
export type TokenMembers = components['schemas']['TokenMembers'];
export type Token = components['schemas']['Token'];
export type NewToken = components['schemas']['NewToken'];
export type RotateToken = components['schemas']['RotateToken'];
export type RemovedToken = components['schemas']['RemovedToken'];
export type LatenessRow = components['schemas']['LatenessRow'];
export type Lateness = components['schemas']['Lateness'];
export type Wheel = components['schemas']['Wheel'];
export type Session = components['schemas']['Session'];
export type TokenPage = components['schemas']['TokenPage'];
export type WebhookTarget = components['schemas']['WebhookTarget'];
export type Webhook = components['schemas']['Webhook'];
export type KafkaTarget = components['schemas']['KafkaTarget'];
export type KafkaTopic = components['schemas']['KafkaTopic'];
export type Queue = components['schemas']['Queue'];
export type RemovedQueue = components['schemas']['RemovedQueue'];
export type GroupSettings = components['schemas']['GroupSettings'];
export type Group = components['schemas']['Group'];
export type GroupPage = components['schemas']['GroupPage'];
export type GroupBackoff = components['schemas']['GroupBackoff'];
export type Redrive = components['schemas']['Redrive'];
export type RedriveResponse = components['schemas']['RedriveResponse'];
export type Discard = components['schemas']['Discard'];
export type QueuePage = components['schemas']['QueuePage'];
export type ScheduleSettings = components['schemas']['ScheduleSettings'];
export type BlockedBy = components['schemas']['BlockedBy'];
export type Schedule = components['schemas']['Schedule'];
export type RemovedSchedule = components['schemas']['RemovedSchedule'];
export type SchedulePage = components['schemas']['SchedulePage'];
export type WatchdogPut = components['schemas']['WatchdogPut'];
export type Watchdog = components['schemas']['Watchdog'];
export type FeedResponse = components['schemas']['FeedResponse'];
export type RemovedWatchdog = components['schemas']['RemovedWatchdog'];
export type WatchdogPage = components['schemas']['WatchdogPage'];
export type Preview = components['schemas']['Preview'];
export type RuleWords = components['schemas']['RuleWords'];
export type LocalText = components['schemas']['LocalText'];
export type HistoryPage = components['schemas']['HistoryPage'];
export type Ended = components['schemas']['Ended'];
export type Forecast = components['schemas']['Forecast'];
export type DueCounts = components['schemas']['DueCounts'];
export type Count = components['schemas']['Count'];
export type LatenessMs = components['schemas']['LatenessMs'];
export type WaitMs = components['schemas']['WaitMs'];
export type Stats = components['schemas']['Stats'];
export type QueueStats = components['schemas']['QueueStats'];
export type Clock = components['schemas']['Clock'];
export type AdvanceClock = components['schemas']['AdvanceClock'];
export type Readiness = components['schemas']['Readiness'];
export type Problem = components['schemas']['Problem'];
export type $defs = Record<string, never>;
type WithRequired<T, K extends keyof T> = T & {
    [P in K]-?: T[P];
};
export type operations = Record<string, never>;
