// Coordinated leader election between programs: schedulers are candidates at two API servers on one etcd, one server elects,
// and the end of that server or of the leader is noticed.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { ApiServers } from '../api-servers.ts'
import { EtcdCluster, newestEtcd } from '../etcd.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { startComponent } from '../process.ts'
import { until } from '../until.ts'

const kubectl = kubectls().at(-1)
const gate = ['--feature-gates', 'CoordinatedLeaderElection=true']
const api = ['--runtime-config', 'coordination.k8s.io/v1beta1=true']

async function k(kubeconfig: string, ...args: string[]): Promise<string> {
  if (kubectl === undefined) throw new Error('there is no kubectl')
  const { code, out, err } = await runKubectl(kubectl, kubeconfig, args)
  equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
  return out
}

test('of the schedulers at two API servers one is elected, and another after it or the electing server has ended', async () => {
  await using etcd = await EtcdCluster.start(newestEtcd(), 1)
  await using servers = await ApiServers.start(etcd, 2, [], () => [...gate, ...api])
  const [first, second] = [servers.kubeconfig(0), servers.kubeconfig(1)] as [string, string]
  await using ended = new AsyncDisposableStack()
  const startScheduler = (kubeconfig: string) =>
    ended.use(startComponent(['scheduler', '--kubeconfig', kubeconfig, '--secure-port', '0', ...gate]))
  const leads = ({ printed }: { printed(): string }) => printed().includes('leading')
  const holder = () =>
    k(second, 'get', 'lease', 'kube-scheduler', '-n', 'kube-system', '-o', 'jsonpath={.spec.holderIdentity}')

  const oldest = startScheduler(first)
  await until(() => leads(oldest))
  const later = [startScheduler(second), startScheduler(second)]
  const candidates = async () =>
    (await k(second, 'get', 'leasecandidates', '-n', 'kube-system', '--no-headers')).split('\n').filter(Boolean)
  await until(async () => (await candidates()).length === 3)
  for (const line of await candidates()) match(line, /_[-0-9a-f]{36} +kube-scheduler +1\.36\.4 +1\.36\.0 /)
  const held = await holder()
  deepEqual(later.map(leads), [false, false], 'of equal versions, the oldest candidate leads')
  const explained = await k(second, 'explain', 'leasecandidate.spec.pingTime')
  match(explained, /pingTime\s+<MicroTime>|FIELD: pingTime/)

  // The first server elects, because it was the first to run.
  await servers.end(0, 'SIGKILL')
  await oldest.end('SIGKILL')
  await until(() => later.filter(leads).length === 1)
  equal((await holder()) === held, false)
  const [next] = later.filter(leads)
  equal(await next?.end(), 0)
  await until(() => later.every(leads))
})
