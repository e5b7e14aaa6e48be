<?php
// Debian's Laravel without the skeleton of an application: `artisan.php COMMAND` is its `php artisan COMMAND`, and `artisan.php FILE.php`
// runs a file in the application.
error_reporting(E_ALL & ~E_DEPRECATED);  // Debian's Laravel is older than its PHP
require 'Illuminate/autoload.php';
require 'Pheanstalk/autoload.php';
spl_autoload_register(function (string $class): void {
    $path = strtr($class, '\\', '/') . '.php';
    foreach ([__DIR__ . '/' . lcfirst($path), '/usr/share/php/' . $path] as $file) {
        if (is_file($file)) {
            require $file;
            return;
        }
    }
});
$app = new Illuminate\Foundation\Application(__DIR__);
$app->singleton(Illuminate\Contracts\Console\Kernel::class, Illuminate\Foundation\Console\Kernel::class);
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);
$kernel = $app->make(Illuminate\Contracts\Console\Kernel::class);
if (str_ends_with($argv[1], '.php')) {
    $kernel->bootstrap();
    require __DIR__ . '/' . $argv[1];
    exit(0);
}
exit($kernel->handle(new Symfony\Component\Console\Input\ArgvInput, new Symfony\Component\Console\Output\ConsoleOutput));
