<?php

return [
    'default' => 'sqlite',
    'migrations' => 'migrations',
    'connections' => ['sqlite' => ['driver' => 'sqlite', 'database' => base_path('database/shop.sqlite'), 'prefix' => '']],
];
