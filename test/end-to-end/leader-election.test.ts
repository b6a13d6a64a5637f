// Two processes of `coxswain up` on one etcd: one of them leads. The other one takes over when it hangs, is stopped or is
// killed, and what is created meanwhile is neither lost nor done twice. Of three, each might take over a part.
import { deepEqual, equal } from 'node:assert/strict'
import { cp, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { EtcdCluster, newestEtcd } from '../etcd.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { newFolder, startUpIn, type RunningUp } from '../process.ts'
import { until } from '../until.ts'

const kubectl = kubectls().at(-1)
const leases = ['coxswain-manifests', 'coxswain-simulated-nodes', 'kube-controller-manager', 'kube-scheduler']
/** With these files a process belongs to the cluster of another. */
const sharedKeys = ['ca.crt', 'ca.key', 'front-proxy-ca.crt', 'front-proxy-ca.key', 'sa.key']

async function k({ kubeconfig }: RunningUp, ...args: string[]): Promise<string> {
  if (kubectl === undefined) throw new Error('there is no kubectl')
  const { code, out, err } = await runKubectl(kubectl, kubeconfig, args)
  equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
  return out
}

/** The leases that the process holds, by its own metrics. */
async function heldBy(up: RunningUp): Promise<readonly string[]> {
  const metrics = await k(up, 'get', '--raw', '/metrics')
  const held = metrics.matchAll(/^leader_election_master_status\{name="([^"]+)"\} 1$/gm)
  return Array.from(held, ([, name = '']) => name).toSorted()
}

/** The process that holds all leases, once the others hold none. */
async function leaderAmong(ups: readonly RunningUp[]): Promise<RunningUp> {
  let leader: RunningUp | undefined
  await until(async () => {
    const held = await Promise.all(ups.map(heldBy))
    leader = ups[held.findIndex((names) => names.length === leases.length)]
    return leader !== undefined && held.flat().length === leases.length
  })
  if (leader === undefined) throw new Error('no process leads')
  deepEqual(await heldBy(leader), leases)
  return leader
}

const podNames = async (up: RunningUp): Promise<readonly string[]> =>
  (await k(up, 'get', 'pods', '-o', 'name')).split('\n').filter(Boolean).toSorted()

async function scaled(up: RunningUp, replicas: number): Promise<readonly string[]> {
  await k(up, 'scale', 'deployment/web', `--replicas=${replicas}`)
  await k(up, 'rollout', 'status', 'deployment/web', '--timeout=200s')
  const names = await podNames(up)
  equal(names.length, replicas)
  return names
}

test('of two processes on one etcd one leads, and the other one takes over', async () => {
  await using etcd = await EtcdCluster.start(newestEtcd(), 1)
  await using ended = new AsyncDisposableStack()
  const { authority, certificate, key } = etcd.files
  const tls = ['--etcd-cafile', authority, '--etcd-certfile', certificate, '--etcd-keyfile', key]
  const start = async (first?: RunningUp): Promise<RunningUp> => {
    const folder = await newFolder()
    ended.defer(() => rm(folder, { recursive: true, force: true }))
    if (first !== undefined) {
      const pki = join(folder, 'data', 'pki')
      await mkdir(pki, { recursive: true, mode: 0o700 })
      for (const file of sharedKeys) await cp(join(first.folder, 'data', 'pki', file), join(pki, file))
    }
    return ended.use(await startUpIn(folder, '--store', `etcd=${etcd.endpoints.join(',')}`, ...tls))
  }
  const first = await start()
  equal(await leaderAmong([first]), first)
  const second = await start(first)
  equal(await leaderAmong([first, second]), first, 'a further process waits')
  await k(second, 'create', 'deployment', 'web', '--image=nginx', '--replicas=2')
  await k(second, 'rollout', 'status', 'deployment/web', '--timeout=200s')
  const two = await podNames(second)

  // It hangs: the other one leads. When it continues, it does not lead any more.
  process.kill(first.pid, 'SIGSTOP')
  equal(await leaderAmong([second]), second)
  const three = await scaled(second, 3)
  process.kill(first.pid, 'SIGCONT')
  equal(await leaderAmong([first, second]), second)
  deepEqual(
    three.filter((name) => two.includes(name)),
    two,
  )

  equal(await second.end(), 0)
  equal(await leaderAmong([first]), first)
  await scaled(first, 4)

  const third = await start(first)
  equal(await leaderAmong([first, third]), first)
  await first.end('SIGKILL')
  equal(await leaderAmong([third]), third)
  const five = await scaled(third, 5)
  deepEqual(
    five.filter((name) => three.includes(name)),
    three,
    'no pod was replaced',
  )
  const events = await k(third, 'get', 'events', '-o', 'jsonpath={.items[*].reason}')
  equal(events.includes('SuccessfulDelete'), false, 'nothing was created that had to be deleted again')
})
