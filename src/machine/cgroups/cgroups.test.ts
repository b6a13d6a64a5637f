import { deepEqual, equal } from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { cgroupsContract } from './cgroups-contract.suite.ts'
import { cgroupLayoutV1 } from './layout-v1.ts'
import { cgroupLayoutV2, sharesOf, weightOf } from './layout-v2.ts'
import { hugepageSize } from './layout.ts'
import { NodeCgroups } from './node-cgroups.ts'
import { SimulatedCgroups } from './simulated-cgroups.ts'

cgroupsContract('simulated', () => Promise.resolve({ cgroups: new SimulatedCgroups(), path: '/test' }))

/** Version 2 on a plain directory: files are created by the first write and removed with their directory. */
const unifiedDirectory = async () => {
  const root = await mkdtemp(join(tmpdir(), 'coxswain-cgroups-'))
  await writeFile(join(root, 'cgroup.controllers'), 'cpu memory pids hugetlb\n')
  return { root, cgroups: new NodeCgroups(root, cgroupLayoutV2, (path) => rm(path, { recursive: true })) }
}
cgroupsContract('version 2', async () => ({ cgroups: (await unifiedDirectory()).cgroups, path: '/test' }))

test('version 2: limits are written to the kernel’s files, and controllers are delegated', async () => {
  const { root, cgroups } = await unifiedDirectory()
  await cgroups.make('/kubepods/pod', {
    cpuShares: 1024,
    cpuQuotaUs: 150_000,
    memoryBytes: 1 << 30,
    hugepageBytes: { '2MB': 4 << 20 },
  })
  const read = async (name: string) => (await readFile(join(root, name), 'utf8')).trim()
  deepEqual(
    await Promise.all(
      ['cpu.weight', 'cpu.max', 'memory.max', 'hugetlb.2MB.max'].map((name) => read(`kubepods/pod/${name}`)),
    ),
    ['39', '150000 100000', '1073741824', '4194304'],
  )
  deepEqual(
    [await read('cgroup.subtree_control'), await read('kubepods/cgroup.subtree_control')],
    ['+cpu +memory +pids +hugetlb', '+cpu +memory +pids +hugetlb'],
  )
})

test('usage is read from either version', async () => {
  const v1: Record<string, string> = {
    'cpuacct.usage': '12345\n',
    'memory.usage_in_bytes': '1000\n',
    'memory.stat':
      'cache 5\ntotal_inactive_file 400\ntotal_rss 300\ntotal_pgfault 7\ntotal_pgmajfault 1\ntotal_swap 9\n',
    'pids.current': '3\n',
  }
  const v2: Record<string, string> = {
    'cpu.stat': 'usage_usec 12\nuser_usec 5\n',
    'memory.current': '1000\n',
    'memory.swap.current': '9\n',
    'memory.stat': 'anon 300\ninactive_file 400\npgfault 7\npgmajfault 1\n',
    'pids.current': '3\n',
  }
  const same = {
    memoryBytes: 1000,
    workingSetBytes: 600,
    rssBytes: 300,
    pageFaults: 7,
    majorPageFaults: 1,
    swapBytes: 9,
    processes: 3,
  }
  deepEqual(await cgroupLayoutV1.usage(({ name }) => Promise.resolve(v1[name])), { cpuNanos: 12_345, ...same })
  deepEqual(await cgroupLayoutV2.usage(({ name }) => Promise.resolve(v2[name])), { cpuNanos: 12_000, ...same })
})

test('shares and weights are converted both ways', () => {
  deepEqual([2, 512, 1024, 262_144].map(weightOf), [1, 20, 39, 10_000])
  for (const weight of [1, 20, 39, 10_000]) equal(weightOf(sharesOf(weight)), weight)
})

test('huge page sizes have the kernel’s names', () => {
  deepEqual([65_536, 2 << 20, 1 << 30].map(hugepageSize), ['64KB', '2MB', '1GB'])
})
