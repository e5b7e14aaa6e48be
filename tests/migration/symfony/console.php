<?php
// Debian's Symfony without the skeleton of an application: `console.php COMMAND` is its `bin/console COMMAND`, and `console.php remind CUSTOMER`
// uses the shop.
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);  // Debian's Symfony is older than its PHP
foreach (['Bundle/FrameworkBundle', 'Component/Messenger', 'Component/Messenger/Bridge/Beanstalkd', 'Component/Console', 'Component/Yaml'] as $part) {
    require "Symfony/$part/autoload.php";
}
spl_autoload_register(function (string $class): void {
    $file = __DIR__ . '/src/' . strtr(substr($class, strlen('App\\')), '\\', '/') . '.php';
    if (str_starts_with($class, 'App\\') && is_file($file)) {
        require $file;
    }
});
$kernel = new App\Kernel('prod', false);
if ($argv[1] === 'remind') {
    $kernel->boot();
    $kernel->getContainer()->get(App\Shop::class)->remindInThreeDays($argv[2]);
    exit(0);
}
exit((new Symfony\Bundle\FrameworkBundle\Console\Application($kernel))->run());
