<?php

namespace App;

// Notes what it is asked for, and does what the files `busy`, `broken` and `slow` of the folder SHOP say.
class Postman
{
    public function isBusy(): bool
    {
        $busy = $this->is('busy');
        if ($busy) {
            $this->note('busy');
        }
        return $busy;
    }

    public function send(string $customer): void
    {
        $this->note("begins $customer");
        if ($this->is('broken')) {
            throw new \RuntimeException('the post office is closed');
        }
        while ($this->is('slow')) {
            usleep(20_000);
            clearstatcache();
        }
        $this->note("sent $customer");
    }

    private function is(string $what): bool
    {
        return file_exists(getenv('SHOP') . "/$what");
    }

    private function note(string $line): void
    {
        file_put_contents(getenv('SHOP') . '/notes', "$line\n", FILE_APPEND);
    }
}
