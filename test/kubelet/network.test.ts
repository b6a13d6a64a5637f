// Flow 13 with real plugins: addresses are exhausted and released, a missing plugin is reported, and no kill leaks an
// address; a runtime that hangs makes its node not ready.
import { deepEqual, equal, match } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { inNamespaces } from '../containers/namespaces.ts'
import { startRealUp } from '../containers/up.harness.ts'
import { until, untilMatch } from '../until.ts'

inNamespaces(import.meta.url, () => {
  test('addresses are exhausted, released and never leaked; missing plugins and a missing runtime are reported', async () => {
    // Five addresses for pods: eight without the network address, the bridge and the broadcast address.
    await using node = await startRealUp('--node-cidr-mask-size', '29', '--cluster-cidr', '10.244.0.0/16')
    const { k, image } = node
    const run = (name: string) => k(['run', name, `--image=${image}`, '--grace-period=1'])
    const isReady = (name: string) => k(['wait', `pod/${name}`, '--for=condition=Ready', '--timeout=200s'])
    const eventsOf = (name: string) =>
      k(['get', 'events', `--field-selector=involvedObject.name=${name}`, '-o', 'jsonpath={.items[*].message}'])
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) await run(name)
    for (const name of names) await isReady(name)
    await run('late')
    await until(async () => (await eventsOf('late')).includes('no IP addresses available in range set'))
    match(
      await eventsOf('late'),
      /Failed to create pod sandbox: .*no IP addresses available in range set: 10\.244\.0\.1-10\.244\.0\.6/,
    )
    await k(['delete', 'pod', 'a', '--timeout=200s'])
    await isReady('late')

    await node.crash()
    await k(['delete', 'pod', 'b', '--timeout=200s'])
    execFileSync('mount', ['-t', 'tmpfs', 'none', '/usr/lib/cni'])
    await run('pluginless')
    await until(async () => (await eventsOf('pluginless')).includes('failed to find plugin'))
    execFileSync('umount', ['--lazy', '/usr/lib/cni']) // a plugin may be looked up in it at this moment
    await isReady('pluginless')

    await k(['delete', 'pod', '--all', '--timeout=200s'])
    const addresses = join(dirname(node.podsFolder), 'addresses', 'coxswain')
    deepEqual(
      readdirSync(addresses).filter((name) => /^\d/.test(name)),
      [],
      'every address was given back',
    )

    const pid = Number(readFileSync(join(dirname(node.podsFolder), 'containerd', 'containerd.pid'), 'utf8'))
    const ready = () =>
      k([
        'get',
        'node',
        '-o',
        'jsonpath={.items[0].status.conditions[?(@.type=="Ready")].reason} {.items[0].status.conditions[?(@.type=="Ready")].message}',
      ])
    await untilMatch(ready, /^KubeletReady kubelet is posting ready status$/)
    process.kill(pid, 'SIGSTOP')
    equal(await untilMatch(ready, /^KubeletNotReady/), 'KubeletNotReady container runtime is down')
    const taints = ['get', 'node', '-o', 'jsonpath={.items[0].spec.taints[*].key}']
    await until(async () => (await k(taints)).includes('node.kubernetes.io/not-ready'))
    process.kill(pid, 'SIGCONT')
    await until(async () => (await ready()).startsWith('KubeletReady'))
  })
})
