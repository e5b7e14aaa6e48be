#include "support/sim_disk.h"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "base/error_codes.h"
#include "support/sim_file_bytes.h"

namespace duewheel {
namespace {

// No simulation needs more; a stray offset would take all memory.
constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 32;
constexpr const char* kLockName = "LOCK";

struct Node;
// Shared, because a handle keeps the bytes of a file whose name is gone, and because the seen and the durable names
// lead to the same file.
using NodePointer = std::shared_ptr<Node>;
using Names = std::map<std::string, NodePointer>;

// A change of names in one directory that waits for its sync.
struct NameChange {
    std::string gone;   // empty: none
    std::string there;  // empty: none
    NodePointer node;   // what lost or got the name
};

struct Node {
    Node(bool directory, std::uint64_t& disk_used) : is_directory(directory), used(disk_used) {}
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node() { used -= charged; }

    // Books the present size. To be called after each change of it.
    void charge() {
        used += bytes.seen().size() - charged;
        charged = bytes.seen().size();
    }

    const bool is_directory;
    SimFileBytes bytes;
    Names seen;
    Names durable;
    std::vector<NameChange> waiting;  // oldest first
    std::uint64_t locked_in = 0;      // the life of the disk in which a lock on this file was taken
    std::uint64_t& used;
    std::uint64_t charged = 0;
};

void make_durable(Node& directory, const NameChange& change) {
    directory.durable.erase(change.gone);
    if (!change.there.empty()) directory.durable[change.there] = change.node;
}

void sync_names(Node& directory) {
    for (const NameChange& change : directory.waiting) make_durable(directory, change);
    directory.waiting.clear();
}

// A change survives by chance, but only when all before it on its names did.
void sync_names_in_part(Node& directory, Random& random, std::uint64_t survival) {
    std::set<std::string> lost;
    for (const NameChange& change : directory.waiting) {
        const bool follows_a_lost_one = lost.contains(change.gone) || lost.contains(change.there);
        if (random.chance(survival) && !follows_a_lost_one) {
            make_durable(directory, change);
            continue;
        }
        if (!change.gone.empty()) lost.insert(change.gone);
        if (!change.there.empty()) lost.insert(change.there);
    }
    directory.waiting.clear();
}

std::uint64_t draw_survival(Random& random) {
    constexpr std::uint64_t kPartsPerMillion[] = {0, 100'000, 500'000, 900'000, 1'000'000};
    return kPartsPerMillion[random.below(std::size(kPartsPerMillion))];
}

void lose_power(Node& node, Random& random) {
    const std::uint64_t survival = draw_survival(random);
    if (!node.is_directory) {
        node.bytes.sync_in_part(random, survival);
        node.bytes.drop_cache();
        node.charge();
        return;
    }
    sync_names_in_part(node, random, survival);
    node.seen = node.durable;
    for (const auto& [name, child] : node.seen) lose_power(*child, random);
}

// Takes away all names below, each a change of its own: a crash may leave any part of the tree.
void empty_tree(Node& directory) {
    for (auto& [name, child] : std::exchange(directory.seen, {})) {
        if (child->is_directory) empty_tree(*child);
        directory.waiting.push_back({name, {}, child});
    }
}

// Where a path leads. `node` is absent when only the name is missing.
struct Place {
    NodePointer parent;  // absent for the root
    std::string name;
    NodePointer node;
};

Error failure(ErrorCode code, std::string_view action, const std::string& path, std::string_view why) {
    return Error{code, "cannot " + std::string(action) + " " + path + ": " + std::string(why), {}};
}

constexpr std::string_view kNotThere = "it is not there";
constexpr std::string_view kNotADirectory = "a file where a directory should be";
constexpr std::string_view kIsADirectory = "it is a directory";
constexpr std::string_view kOrdered = "a fault was ordered";
constexpr std::string_view kPowerCut = "the power was cut";

std::vector<std::string> parts_of(const std::string& path) {
    std::vector<std::string> parts;
    const std::filesystem::path plain = std::filesystem::path("/" + path).lexically_normal();
    for (const std::filesystem::path& part : plain.relative_path()) {
        if (!part.empty()) parts.push_back(part.string());
    }
    return parts;
}

}  // namespace

struct SimDisk::Machine {
    explicit Machine(std::uint64_t seed) : random(seed) {}

    // Counts the call, lets the hook act, and says whether the call was ordered to fail. An error: no power.
    Result<bool> begin(DiskOperation operation, std::string_view action, const std::string& path) {
        const auto index = static_cast<std::size_t>(operation);
        ++counts.at(index);
        const std::uint64_t life_before = life;
        if (powered && hook) hook(operation, path);
        if (!powered || life != life_before) return failure("io_error"_code, action, path, kPowerCut);
        std::uint64_t& left = faults.at(index);
        return left > 0 && --left == 0;
    }

    // begin() for an operation that leaves nothing behind when it fails.
    Status admit(DiskOperation operation, std::string_view action, const std::string& path) {
        const Result<bool> faulty = begin(operation, action, path);
        if (!faulty) return faulty.error();
        if (*faulty) return failure("io_error"_code, action, path, kOrdered);
        return {};
    }

    Result<Place> find(std::string_view action, const std::string& path) const {
        if (path.empty()) return failure("not_found"_code, action, path, kNotThere);
        Place place{nullptr, {}, root};
        for (const std::string& part : parts_of(path)) {
            if (!place.node) return failure("not_found"_code, action, path, kNotThere);
            if (!place.node->is_directory) return failure("io_error"_code, action, path, kNotADirectory);
            const auto child = place.node->seen.find(part);
            NodePointer next = child == place.node->seen.end() ? nullptr : child->second;
            place = Place{std::move(place.node), part, std::move(next)};
        }
        return place;
    }

    Result<NodePointer> find_directory(std::string_view action, const std::string& path) const {
        Result<Place> place = find(action, path);
        if (!place) return std::move(place).error();
        if (!place->node) return failure("not_found"_code, action, path, kNotThere);
        if (!place->node->is_directory) return failure("io_error"_code, action, path, kNotADirectory);
        return place->node;
    }

    NodePointer create(const NodePointer& parent, const std::string& name) {
        auto node = std::make_shared<Node>(false, used);
        parent->seen[name] = node;
        parent->waiting.push_back({{}, name, node});
        return node;
    }

    std::uint64_t free() const { return capacity > used ? capacity - used : 0; }

    std::uint64_t used = 0;  // stands before the nodes, which refer to it
    std::uint64_t capacity = kDefaultCapacityBytes;
    NodePointer root = std::make_shared<Node>(true, used);
    Random random;
    std::uint64_t life = 1;  // counts the crashes; handles of an older life are dead
    bool powered = true;
    std::array<std::uint64_t, kDiskOperationCount> counts{};
    std::array<std::uint64_t, kDiskOperationCount> faults{};  // how many calls until one fails; 0: none will
    std::function<void(DiskOperation, std::string_view)> hook;
};

class SimDisk::OpenFile final : public File {
  public:
    OpenFile(Machine& machine, NodePointer node, std::string path, bool writable)
        : machine_(machine), node_(std::move(node)), path_(std::move(path)), writable_(writable) {}

    Result<std::size_t> read_at(std::uint64_t offset, MutableBytes into) const override {
        if (Status admitted = admit(DiskOperation::read, "read"); !admitted) return std::move(admitted).error();
        const auto& content = node_->bytes.seen();
        if (offset >= content.size()) return std::size_t{0};
        const ConstBytes there = ConstBytes(content).subspan(offset);
        const std::size_t length = std::min(there.size(), into.size());
        std::copy_n(there.begin(), length, into.begin());
        return length;
    }

    Status write_at(std::uint64_t offset, ConstBytes bytes) override {
        if (Status fit = look(offset, bytes.size(), "write"); !fit) return fit;
        const Result<bool> faulty = machine_.begin(DiskOperation::write, "write", path_);
        if (!faulty) return faulty.error();
        const std::size_t fitting = std::min<std::uint64_t>(bytes.size(), room_from(offset));
        if (*faulty) {
            write(offset, bytes.first(machine_.random.below(fitting + 1)));
            return failure("io_error"_code, "write", path_, kOrdered);
        }
        write(offset, bytes.first(fitting));
        if (fitting < bytes.size()) return failure("no_space"_code, "write", path_, "the disk is full");
        return {};
    }

    Status sync_data() override {
        if (Status alive = look(0, 0, "sync", false); !alive) return alive;
        const Result<bool> faulty = machine_.begin(DiskOperation::sync_data, "sync", path_);
        if (!faulty) return faulty.error();
        if (*faulty) {
            node_->bytes.sync_in_part(machine_.random, draw_survival(machine_.random));
            return failure("io_error"_code, "sync", path_, kOrdered);
        }
        node_->bytes.sync();
        return {};
    }

    Result<std::uint64_t> size() const override {
        if (Status admitted = admit(DiskOperation::size, "look at"); !admitted) return std::move(admitted).error();
        return std::uint64_t{node_->bytes.seen().size()};
    }

    Status truncate(std::uint64_t size) override {
        if (Status fit = look(size, 0, "truncate"); !fit) return fit;
        if (Status admitted = admit(DiskOperation::truncate, "truncate"); !admitted) return admitted;
        const std::uint64_t before = node_->bytes.seen().size();
        if (size > before && size - before > machine_.free()) {
            return failure("no_space"_code, "truncate", path_, "the disk is full");
        }
        node_->bytes.truncate(size);
        node_->charge();
        return {};
    }

  private:
    // Refuses what this handle cannot do at all; such a call is not counted.
    Status look(std::uint64_t offset, std::uint64_t length, std::string_view action, bool changes = true) const {
        if (life_ != machine_.life) return failure("io_error"_code, action, path_, kPowerCut);
        if (changes && !writable_) return failure("io_error"_code, action, path_, "it is open for reading only");
        if (offset > kFileBytesMax || length > kFileBytesMax - offset) {
            return failure("io_error"_code, action, path_, "the file would be too long");
        }
        return {};
    }

    Status admit(DiskOperation operation, std::string_view action) const {
        if (life_ != machine_.life) return failure("io_error"_code, action, path_, kPowerCut);
        return machine_.admit(operation, action, path_);
    }

    // How many bytes a write at `offset` may have until the disk is full.
    std::uint64_t room_from(std::uint64_t offset) const {
        const std::uint64_t end = node_->bytes.seen().size() + machine_.free();
        return end > offset ? end - offset : 0;
    }

    void write(std::uint64_t offset, ConstBytes bytes) {
        node_->bytes.write(offset, bytes);
        node_->charge();
    }

    Machine& machine_;
    NodePointer node_;
    std::string path_;
    bool writable_;
    std::uint64_t life_ = machine_.life;
};

class SimDisk::Lock final : public DirectoryLock {
  public:
    Lock(const Machine& machine, NodePointer node) : machine_(machine), node_(std::move(node)) {
        node_->locked_in = life_;
    }
    ~Lock() override {
        if (machine_.life == life_) node_->locked_in = 0;
    }

  private:
    const Machine& machine_;
    NodePointer node_;
    std::uint64_t life_ = machine_.life;
};

SimDisk::SimDisk(std::uint64_t seed) : machine_(std::make_unique<Machine>(seed)) {}
SimDisk::~SimDisk() = default;

void SimDisk::crash(Random& random) {
    power_off(random);
    power_on();
}

void SimDisk::power_off(Random& random) {
    machine_->powered = false;
    ++machine_->life;
    lose_power(*machine_->root, random);
}

void SimDisk::power_on() {
    machine_->powered = true;
}

void SimDisk::fail(DiskOperation operation, std::uint64_t nth) {
    machine_->faults.at(static_cast<std::size_t>(operation)) = nth;
}

void SimDisk::set_capacity(std::uint64_t bytes) {
    machine_->capacity = bytes;
}

void SimDisk::flip(const std::string& path, std::uint64_t offset, std::byte mask) {
    const Result<Place> place = machine_->find("flip", path);
    assert(place.ok() && place->node && !place->node->is_directory);
    place->node->bytes.flip(offset, mask);
}

void SimDisk::set_hook(std::function<void(DiskOperation, std::string_view path)> hook) {
    machine_->hook = std::move(hook);
}

std::uint64_t SimDisk::count(DiskOperation operation) const {
    return machine_->counts.at(static_cast<std::size_t>(operation));
}

std::uint64_t SimDisk::used_bytes() const {
    return machine_->used;
}

Result<std::unique_ptr<File>> SimDisk::open(const std::string& path, OpenMode mode) {
    if (Status admitted = machine_->admit(DiskOperation::open, "open", path); !admitted) {
        return std::move(admitted).error();
    }
    Result<Place> place = machine_->find("open", path);
    if (!place) return std::move(place).error();
    if (mode == OpenMode::create) {
        if (place->node) return failure("already_exists"_code, "open", path, "it is there already");
        place->node = machine_->create(place->parent, place->name);
    }
    if (!place->node) return failure("not_found"_code, "open", path, kNotThere);
    if (place->node->is_directory) return failure("io_error"_code, "open", path, kIsADirectory);
    return std::unique_ptr<File>(std::make_unique<OpenFile>(*machine_, place->node, path, mode != OpenMode::read));
}

Result<std::vector<std::string>> SimDisk::list(const std::string& directory) const {
    if (Status admitted = machine_->admit(DiskOperation::list, "list", directory); !admitted) {
        return std::move(admitted).error();
    }
    Result<NodePointer> found = machine_->find_directory("list", directory);
    if (!found) return std::move(found).error();
    std::vector<std::string> names;
    for (const auto& [name, node] : (*found)->seen) names.push_back(name);
    return names;
}

Status SimDisk::remove(const std::string& path) {
    if (Status admitted = machine_->admit(DiskOperation::remove, "remove", path); !admitted) return admitted;
    const Result<Place> place = machine_->find("remove", path);
    if (!place) return place.error();
    if (!place->node) return failure("not_found"_code, "remove", path, kNotThere);
    if (place->node->is_directory) return failure("io_error"_code, "remove", path, kIsADirectory);
    place->parent->seen.erase(place->name);
    place->parent->waiting.push_back({place->name, {}, place->node});
    return {};
}

Status SimDisk::remove_tree(const std::string& path) {
    if (Status admitted = machine_->admit(DiskOperation::remove_tree, "remove", path); !admitted) return admitted;
    const Result<Place> place = machine_->find("remove", path);
    if (!place || !place->node) return {};
    if (!place->parent) return failure("io_error"_code, "remove", path, "it is the root");
    if (place->node->is_directory) empty_tree(*place->node);
    place->parent->seen.erase(place->name);
    place->parent->waiting.push_back({place->name, {}, place->node});
    return {};
}

Status SimDisk::rename(const std::string& from, const std::string& to) {
    if (Status admitted = machine_->admit(DiskOperation::rename, "rename", from); !admitted) return admitted;
    const Result<Place> source = machine_->find("rename", from);
    if (!source) return source.error();
    const Result<Place> target = machine_->find("rename " + from + " to", to);
    if (!target) return target.error();
    if (source->parent != target->parent) return failure("io_error"_code, "rename", from, "the directories differ");
    if (!source->node) return failure("not_found"_code, "rename", from, kNotThere);
    if (!source->parent) return failure("io_error"_code, "rename", from, "it is the root");
    if (source->node == target->node) return {};
    if (target->node) {
        if (target->node->is_directory != source->node->is_directory || !target->node->seen.empty()) {
            return failure("io_error"_code, "rename", from, "what has the new name cannot be replaced");
        }
    }
    source->parent->seen.erase(source->name);
    source->parent->seen[target->name] = source->node;
    source->parent->waiting.push_back({source->name, target->name, source->node});
    return {};
}

Status SimDisk::make_directories(const std::string& path) {
    constexpr std::string_view kAction = "make directory";
    if (Status admitted = machine_->admit(DiskOperation::make_directories, kAction, path); !admitted) return admitted;
    if (path.empty()) return failure("not_found"_code, kAction, path, kNotThere);
    NodePointer directory = machine_->root;
    for (const std::string& part : parts_of(path)) {
        NodePointer child = directory->seen.contains(part) ? directory->seen.at(part) : nullptr;
        if (!child) {
            child = std::make_shared<Node>(true, machine_->used);
            sync_names(*directory);
            directory->seen[part] = child;
            directory->durable[part] = child;
        }
        if (!child->is_directory) return failure("already_exists"_code, kAction, path, kNotADirectory);
        directory = std::move(child);
    }
    return {};
}

Status SimDisk::sync_directory(const std::string& directory) {
    const Result<bool> faulty = machine_->begin(DiskOperation::sync_directory, "sync directory", directory);
    if (!faulty) return faulty.error();
    const Result<NodePointer> found = machine_->find_directory("sync directory", directory);
    if (!found) return found.error();
    if (*faulty) {
        sync_names_in_part(**found, machine_->random, draw_survival(machine_->random));
        return failure("io_error"_code, "sync directory", directory, kOrdered);
    }
    sync_names(**found);
    return {};
}

Result<std::unique_ptr<DirectoryLock>> SimDisk::lock(const std::string& directory) {
    if (Status admitted = machine_->admit(DiskOperation::lock, "lock", directory); !admitted) {
        return std::move(admitted).error();
    }
    Result<NodePointer> found = machine_->find_directory("lock", directory);
    if (!found) return std::move(found).error();
    NodePointer node = (*found)->seen.contains(kLockName) ? (*found)->seen.at(kLockName) : nullptr;
    if (!node) node = machine_->create(*found, kLockName);
    if (node->is_directory) return failure("io_error"_code, "lock", directory, kIsADirectory);
    if (node->locked_in == machine_->life) return failure("in_use"_code, "lock", directory, "it is locked already");
    return std::unique_ptr<DirectoryLock>(std::make_unique<Lock>(*machine_, std::move(node)));
}

Result<std::uint64_t> SimDisk::free_bytes(const std::string& directory) const {
    constexpr std::string_view kAction = "look at the free space of";
    if (Status admitted = machine_->admit(DiskOperation::free_bytes, kAction, directory); !admitted) {
        return std::move(admitted).error();
    }
    const Result<Place> place = machine_->find(kAction, directory);
    if (!place) return place.error();
    if (!place->node) return failure("not_found"_code, kAction, directory, kNotThere);
    return machine_->free();
}

}  // namespace duewheel
