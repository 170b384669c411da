//! What samples add up to: shares by part of the system, and by function.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::Stacks;

/// What the processor was busy with when a sample was taken, by the function that it was in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The programs' own code, libraries too.
    User,
    /// Copying bytes, in the kernel.
    Copy,
    /// Allocating, clearing and freeing pages.
    Pages,
    /// Charging pages to a memory cgroup.
    MemoryCgroup,
    /// Page faults, mappings, and finding the pages behind addresses.
    Mappings,
    /// Switching, waking and choosing tasks.
    Scheduling,
    /// Taking and giving back locks.
    Locks,
    /// Into the kernel and back.
    Entry,
    /// Pipes and splicing.
    Pipes,
    /// Sockets and protocols.
    Network,
    /// Files and block devices.
    Files,
    /// All else in the kernel.
    OtherKernel,
}

/// Which functions of the kernel belong to which part: the first pattern that fits decides. A `*` at an end of one stands for any rest.
const PATTERNS: &[(Part, &str)] = &[
    (
        Part::MemoryCgroup,
        "*css_rstat* *memcg* *mem_cgroup* page_counter_* *obj_cgroup* *obj_stock charge_* uncharge_* try_charge* \
         *cgroup_charge* propagate_protected_usage refill_stock consume_stock drain_stock *mod_lruvec_* \
         *lruvec_stat*",
    ),
    (
        Part::Locks,
        "*spin_trylock* *spin_lock* *spin_unlock* *spin_rq_* _raw_read_* _raw_write_* mutex_* __mutex_* *rwsem* \
         down_* up_read* up_write* __down_* __up_* queued_* native_queued_* osq_* *futex* rcu_read_* __rcu_read_* \
         lockref_* rt_mutex_*",
    ),
    (
        Part::Scheduling,
        "*schedule* finish_task_switch* prepare_task_switch __switch_to* switch_mm* try_to_wake_up *wake_up* \
         *wakeup* ttwu_* enqueue_* dequeue_* pick_* __pick_* put_prev_* set_next_* update_curr* update_load_* \
         update_cfs_* update_rq_* update_se place_entity *prepare_to_wait* *finish_wait select_task_* \
         select_idle_* reweight_* sched_* *resched* *wake_function* available_idle_cpu psi_* *_entity* yield_* \
         do_sched_* avg_vruntime vruntime_eligible default_idle* do_idle cpuidle_* copy_process kernel_clone \
         wake_q_* hrtick_*",
    ),
    (
        Part::Pages,
        "policy_nodemask get_vma_policy *_page_state *alloc_page* *alloc_pages* *alloc_frozen* *alloc_anon_folio* \
         vma_alloc_* folio_alloc* get_page_from_freelist rmqueue* __rmqueue* free_unref_* *free_frozen* free_pcp* \
         free_page* *free_pages* __free_page* free_one_page free_tail_page* prep_* post_alloc_hook clear_page* \
         clear_huge_* clear_folio* clear_gigantic* clear_subpage *kernel_init_pages memset* __memset* *folio_put* \
         put_page* folios_put* release_pages *folio_batch_* lru_* __page_cache_release destroy_large_folio \
         decay_pcp* *zone_watermark* __zone_* expand free_large_* page_vma_* *get_pfnblock_*",
    ),
    (
        Part::Mappings,
        "*pte_offset_* free_pgd_range free_pgtables *folio_mod_stat vm_normal_page access_error *page_fault* \
         *handle_mm_fault* do_anonymous_page do_fault* __do_fault do_huge_pmd_* do_wp_page filemap_map_pages \
         next_uptodate_folio gup_* *gup_fast* *get_user_pages* pin_user_* follow_* zap_* unmap_* *tlb_* *mmap* \
         do_vmi_* vms_* vma_* __vma_* mas_* mt_* mtree_* pte_* *_pte *_ptes *_pmd set_pte* copy_page_range \
         copy_p4d_range copy_pte_range *_rmap* lock_vma_* rmqueue_fault madvise_* sync_regs error_entry asm_exc_* \
         exc_*",
    ),
    (
        Part::Copy,
        "__get_user_* __put_user_* copy_iovec_* __pi_memcpy copy_to_* copy_from_* _copy_* __copy_* copy_user_* \
         copy_page_to_iter* copy_page_from_iter* copy_folio_* copy_page copy_mc_* rep_movs_* memcpy* __memcpy* \
         memmove* __memmove* raw_copy_* csum_partial_copy* csum_and_copy* __arch_copy_* skb_copy_* simple_copy_* \
         memcpy_*",
    ),
    (Part::Pipes, "*pipe* *splice* do_tee link_pipe opipe_* ipipe_* sock_splice* iter_to_pipe pagecache_*"),
    (
        Part::Entry,
        "its_return_* *rseq_* entry_SYSCALL* do_syscall_* syscall_* *syscall_enter* *syscall_exit* exit_to_user_* \
         x64_sys_call __x64_sys_* __ia32_sys_* __arm64_sys_* __riscv_sys_* __se_sys_* __do_sys_* ksys_* \
         asm_sysvec_* sysvec_* irqentry_* asm_common_* common_interrupt* *retbleed* srso_* __x86_indirect_* \
         __x86_return_* *retpoline* el0_* el0t_* el1h_* invoke_syscall* do_el0_* fdget* fget __fdget* fput* \
         __fget_* swapgs_* restore_regs* clear_bhb_* amd_clear_divider __handle_irq* handle_softirqs __do_softirq \
         *hrtimer_interrupt*",
    ),
    (
        Part::Network,
        "tcp_* __tcp_* udp_* ip_* __ip_* ipv4_* ip6_* inet_* sock_* __sock_* unix_* skb_* __skb_* *_skb* skbs_* \
         sk_* __sk_* net_* __netif_* netif_* dev_* __dev_* nf_* napi_* loopback_* process_backlog validate_xmit_* \
         release_sock lock_sock* import_ubuf __sys_send* __sys_recv* security_socket_* simd_csum* csum_*",
    ),
    (
        Part::Files,
        "dd_* __dd_* elv_* wbt_* sbitmap_* virtio_queue_* virtqueue_* iowrite* bvec_* __submit_bio* __bio_* \
         *rq_qos* *_merge_fn do_io_* vfs_* new_sync_* rw_verify_area security_file_* apparmor_file_* file_* \
         *fsnotify* *inotify* touch_atime atime_* generic_* *iov_iter_* filemap_* ext4_* xfs_* btrfs_* shmem_* \
         *iomap_* blk_* __blk_* bio_* submit_bio* nvme_* scsi_* virtblk_* io_* __io_* aio_* do_filp_* path_* \
         link_path_* lookup_* dput* do_iter_* xas_* folio_*",
    ),
];

impl Part {
    /// The part that a function belongs to, as folded stacks write it.
    fn of(frame: &str) -> Self {
        let Some(name) = frame.strip_suffix("_[k]") else { return Self::User };
        // The compiler's clones of a function are the function: `finish_task_switch.isra.0`.
        let name = name.split('.').next().unwrap_or(name);
        let found =
            PATTERNS.iter().find(|(_, patterns)| patterns.split_whitespace().any(|pattern| fits(pattern, name)));
        found.map_or(Self::OtherKernel, |(part, _)| *part)
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == pattern,
    }
}

/// What a profile's samples add up to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// How many samples there are.
    pub samples: u64,
    /// Samples by part, most first; parts without any are left out.
    pub parts: Vec<(Part, u64)>,
    /// Functions, those first that most samples were in themselves.
    pub functions: Vec<Function>,
}

/// A function that samples met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Function {
    /// Its name, without a mark.
    pub name: String,
    /// Where it belongs.
    pub part: Part,
    /// Samples in itself.
    pub own: u64,
    /// Samples in itself and in what it called.
    pub with_callees: u64,
}

impl Stacks {
    /// The stacks: program and functions, the outermost first, and how many samples.
    pub fn lines(&self) -> impl Iterator<Item = (Vec<&str>, u64)> {
        fn line(line: &str) -> Option<(Vec<&str>, u64)> {
            let (stack, count) = line.rsplit_once(' ')?;
            Some((stack.split(';').collect(), count.parse().ok()?))
        }
        self.folded.lines().filter_map(line)
    }

    /// Adds the samples up.
    pub fn summary(&self) -> Summary {
        // A file from elsewhere may hold any number.
        let add = |sum: &mut u64, count| *sum = sum.saturating_add(count);
        let mut samples = 0;
        let mut parts = BTreeMap::<Part, u64>::new();
        let mut functions = HashMap::<&str, (u64, u64)>::new();
        for (stack, count) in self.lines() {
            add(&mut samples, count);
            // Before the first function stands the program; a stack without functions could not be told.
            let called = if stack.len() > 1 { &stack[1..] } else { &["[unknown]"][..] };
            let last = called[called.len() - 1];
            add(parts.entry(Part::of(last)).or_default(), count);
            add(&mut functions.entry(last).or_default().0, count);
            // A function that calls itself has the sample once.
            for function in called.iter().collect::<BTreeSet<_>>() {
                add(&mut functions.entry(function).or_default().1, count);
            }
        }
        let mut parts: Vec<_> = parts.into_iter().collect();
        parts.sort_by_key(|(part, count)| (std::cmp::Reverse(*count), *part));
        let function = |(frame, (own, with_callees)): (&str, (u64, u64))| Function {
            name: frame.strip_suffix("_[k]").unwrap_or(frame).to_owned(),
            part: Part::of(frame),
            own,
            with_callees,
        };
        let mut functions: Vec<_> = functions.into_iter().map(function).collect();
        functions.sort_by(|one, other| {
            let key = |function: &Function| (function.own, function.with_callees);
            key(other).cmp(&key(one)).then_with(|| one.name.cmp(&other.name)).then_with(|| one.part.cmp(&other.part))
        });
        Summary { samples, parts, functions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(folded: &str) -> Stacks {
        Stacks { event: "cpu-clock".into(), hertz: 997, measured_stretch: true, folded: folded.into() }
    }

    /// Functions that a profile of write() into a pipe on Linux 6.18 named.
    #[test]
    fn functions_of_the_kernel_belong_to_parts() {
        let parts = [
            (Part::Copy, "_copy_to_iter _copy_from_iter copy_page_from_iter __memcpy rep_movs_alternative"),
            (
                Part::MemoryCgroup,
                "uncharge_folio page_counter_uncharge obj_cgroup_charge_pages memcg1_uncharge_batch mod_memcg_state __mem_cgroup_uncharge",
            ),
            (
                Part::Pages,
                "get_page_from_freelist clear_page_erms free_unref_folios __folio_put rmqueue __alloc_pages_noprof prep_new_page vma_alloc_folio_noprof",
            ),
            (
                Part::Scheduling,
                "finish_task_switch.isra.0 __schedule schedule try_to_wake_up __wake_up_sync_key dequeue_entity",
            ),
            (
                Part::Locks,
                "_raw_spin_lock_irqsave _raw_spin_unlock_irqrestore mutex_lock mutex_spin_on_owner rwsem_optimistic_spin",
            ),
            (
                Part::Mappings,
                "exc_page_fault asm_exc_page_fault __handle_mm_fault gup_fast_fallback next_uptodate_folio",
            ),
            (
                Part::Pipes,
                "anon_pipe_write anon_pipe_read pipe_read __splice_from_pipe pipe_to_null page_cache_pipe_buf_release vmsplice_type_pipe",
            ),
            (
                Part::Entry,
                "entry_SYSCALL_64_after_hwframe do_syscall_64 ksys_write syscall_exit_to_user_mode srso_return_thunk",
            ),
            (Part::Network, "tcp_sendmsg_locked unix_stream_read_generic __skb_datagram_iter"),
            (
                Part::Files,
                "vfs_write rw_verify_area ext4_file_write_iter __iomap_dio_rw dd_insert_requests blk_mq_submit_bio",
            ),
            (Part::OtherKernel, "prandom_u32 kthread"),
        ];
        for (part, names) in parts {
            for name in names.split(' ') {
                assert_eq!(Part::of(&format!("{name}_[k]")), part, "{name}");
                assert_eq!(Part::of(name), Part::User, "a program may have a function of this name too");
            }
        }
    }

    #[test]
    fn samples_add_up_by_part_and_by_function() {
        let summary = stacks(
            "probe;main;write;ksys_write_[k];anon_pipe_write_[k];_copy_from_iter_[k] 50\n\
             probe;main;write;ksys_write_[k];anon_pipe_write_[k] 25\n\
             probe;main;walk;walk;walk 20\n\
             sh 5\n",
        )
        .summary();
        assert_eq!(summary.samples, 100);
        assert_eq!(summary.parts, [(Part::Copy, 50), (Part::User, 25), (Part::Pipes, 25)]);
        let of = |name: &str| {
            let function = summary.functions.iter().find(|function| function.name == name).unwrap();
            (function.own, function.with_callees, function.part)
        };
        assert_eq!(of("_copy_from_iter"), (50, 50, Part::Copy));
        assert_eq!(of("anon_pipe_write"), (25, 75, Part::Pipes));
        assert_eq!(of("main"), (0, 95, Part::User));
        assert_eq!(of("walk"), (20, 20, Part::User), "a function that calls itself is met once");
        assert_eq!(of("[unknown]"), (5, 5, Part::User));
        assert_eq!(summary.functions[0].name, "_copy_from_iter");
        assert_eq!(summary.functions.iter().map(|function| function.own).sum::<u64>(), 100);
    }

    #[test]
    fn each_pattern_can_fit() {
        let patterns: Vec<_> = PATTERNS.iter().flat_map(|(_, patterns)| patterns.split_whitespace()).collect();
        for pattern in &patterns {
            let core = pattern.trim_matches('*');
            assert!(!core.is_empty() && !core.contains('*') && fits(pattern, core), "{pattern}");
            assert_eq!(patterns.iter().filter(|other| other == &pattern).count(), 1, "{pattern} stands there twice");
        }
    }
}
