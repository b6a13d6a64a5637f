// A worker uses every API server of its cluster: it continues when one of them hangs or is killed, and starts again without the one
// with which it joined.
import { equal, match } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cp, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { inNamespaces } from '../containers/namespaces.ts'
import { EtcdCluster, newestEtcd } from '../etcd.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { coxswain, newFolder, startProcess, startUpIn, type RunningUp } from '../process.ts'
import { until } from '../until.ts'

const kubectl = kubectls().at(-1)
/** With these files a process belongs to the cluster of another. */
const sharedKeys = ['ca.crt', 'ca.key', 'front-proxy-ca.crt', 'front-proxy-ca.key', 'sa.key']
const hosts = ['192.0.2.1', '192.0.2.2'] as const

async function k({ kubeconfig }: RunningUp, args: readonly string[], input?: object): Promise<string> {
  if (kubectl === undefined) throw new Error('there is no kubectl')
  const options = input === undefined ? {} : { input: JSON.stringify(input) }
  const { code, out, err } = await runKubectl(kubectl, kubeconfig, args, options)
  equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
  return out
}

/** A pod that needs neither the scheduler nor an account. */
const podOn = (nodeName: string, name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { nodeName, automountServiceAccountToken: false, containers: [{ name: 'app', image: 'app:1' }] },
})

async function runsThrough(up: RunningUp, name: string): Promise<void> {
  await k(up, ['apply', '--validate=false', '-f', '-'], podOn('worker', name))
  await k(up, ['wait', `pod/${name}`, '--for=condition=Ready', '--timeout=200s'])
}

inNamespaces(import.meta.url, () => {
  test('a worker continues when an API server hangs or is killed', async () => {
    for (const host of hosts) execFileSync('ip', ['address', 'add', `${host}/32`, 'dev', 'lo'])
    await using etcd = await EtcdCluster.start(newestEtcd(), 1)
    await using ended = new AsyncDisposableStack()
    const { authority, certificate, key } = etcd.files
    const tls = ['--etcd-cafile', authority, '--etcd-certfile', certificate, '--etcd-keyfile', key]
    const store = ['--store', `etcd=${etcd.endpoints.join(',')}`, ...tls]
    const start = async (host: string, first?: RunningUp): Promise<RunningUp> => {
      const folder = await newFolder()
      ended.defer(() => rm(folder, { recursive: true, force: true }))
      const pki = join(folder, 'data', 'pki')
      await mkdir(pki, { recursive: true, mode: 0o700 })
      for (const file of first === undefined ? [] : sharedKeys)
        await cp(join(first?.folder ?? '', 'data', 'pki', file), join(pki, file))
      const options = [...store, '--bind', host, '--port', '6443', '--runtime', 'none']
      return ended.use(await startUpIn(folder, ...options))
    }
    const first = await start(hosts[0])
    const second = await start(hosts[1], first)
    const token = execFileSync(coxswain, [...['token', 'create', '--pinned', '--kubeconfig', first.kubeconfig]])
    const folder = await newFolder()
    ended.defer(() => rm(folder, { recursive: true, force: true }))
    const agent = ['agent', '--data-dir', folder, '--hostname-override', 'worker', '--runtime', 'simulated']
    const joining = ['--server', `https://${hosts[0]}:6443`, '--token', String(token).trim()]
    const worker = ended.use(await startProcess([...agent, ...joining]))
    const known = join(folder, 'servers.json')
    await until(async () => (await readFile(known, 'utf8').catch(() => '')).includes(hosts[1]))
    match(await readFile(known, 'utf8'), /192\.0\.2\.1.*192\.0\.2\.2/)
    await runsThrough(first, 'before')

    for (const [hanging, other] of [
      [first, second],
      [second, first],
    ] as const) {
      process.kill(hanging.pid, 'SIGSTOP')
      await runsThrough(other, `without-${hanging === first ? 'first' : 'second'}`)
      process.kill(hanging.pid, 'SIGCONT')
      await k(hanging, ['get', '--raw', '/readyz'])
    }

    await first.end('SIGKILL')
    await runsThrough(second, 'after')
    equal(await worker.end(), 0)
    const again = ended.use(await startProcess(agent))
    await runsThrough(second, 'again')
    equal(await again.end(), 0)

    // The first server, with which it has joined, is still gone, and so is its own balancer.
    const reset = () => String(execFileSync(coxswain, ['reset', '--yes', '--data-dir', folder]))
    match(
      reset(),
      /^The node worker is not ready from now on\. Remove it from the cluster: coxswain node remove worker$/m,
    )
    const condition = '{.status.conditions[?(@.type=="Ready")].status}'
    equal(await k(second, ['get', 'node', 'worker', '-o', `jsonpath=${condition}`]), 'False')
    match(await k(second, ['get', 'events', '--field-selector', 'involvedObject.name=worker']), /NodeReset/)
  })
})
