<?php

use App\Jobs\RemindCustomer;

foreach (['cleo', 'dora'] as $customer) {
    RemindCustomer::dispatch($customer)->onConnection('database')->delay(now()->addDays(3));
}
