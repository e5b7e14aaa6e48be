<?php

return [
    'env' => 'local',
    'key' => str_repeat('k', 32),
    'cipher' => 'AES-256-CBC',
    'timezone' => 'UTC',
    'providers' => [
        Illuminate\Bus\BusServiceProvider::class,
        Illuminate\Cache\CacheServiceProvider::class,
        Illuminate\Database\DatabaseServiceProvider::class,
        Illuminate\Encryption\EncryptionServiceProvider::class,
        Illuminate\Filesystem\FilesystemServiceProvider::class,
        Illuminate\Queue\QueueServiceProvider::class,
        Illuminate\View\ViewServiceProvider::class,
        Illuminate\Foundation\Providers\ConsoleSupportServiceProvider::class,
    ],
];
