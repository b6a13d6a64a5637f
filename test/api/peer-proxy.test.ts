// The mixed-version proxy: of two API servers on one etcd only the second serves LeaseCandidates, as a newer version serves kinds that
// an older one does not know. Requests for them succeed at the first one, too.
import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { ApiServers } from '../api-servers.ts'
import { EtcdCluster, newestEtcd } from '../etcd.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { untilMatch } from '../until.ts'

const kubectl = kubectls().at(-1)
const features = [
  '--feature-gates',
  'CoordinatedLeaderElection=true',
  '--runtime-config',
  'coordination.k8s.io/v1beta1=true',
]
const path = '/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates'

const candidate = JSON.stringify({
  apiVersion: 'coordination.k8s.io/v1beta1',
  kind: 'LeaseCandidate',
  metadata: { name: 'one' },
  spec: { leaseName: 'x', binaryVersion: '1.36.0', emulationVersion: '1.36.0', strategy: 'OldestEmulationVersion' },
})

test('a request for a kind that only another API server serves is forwarded to it', async () => {
  if (kubectl === undefined) throw new Error('there is no kubectl')
  await using etcd = await EtcdCluster.start(newestEtcd(), 1)
  await using servers = await ApiServers.start(etcd, 2, [], (index) => (index === 1 ? features : []))
  const older = servers.kubeconfig(0)
  const k = async (args: readonly string[], input?: string): Promise<string> => {
    const { out, err } = await runKubectl(kubectl, older, args, input === undefined ? {} : { input })
    return out + err
  }
  const list = () => k(['get', '--raw', path])

  match(await untilMatch(list, /LeaseCandidateList|no answer/), /"kind":"LeaseCandidateList"/)
  match(await k(['create', '--raw', path, '-f', '-'], candidate), /"name":"one"/)
  match(await k(['get', '--raw', `${path}/one`]), /"leaseName":"x"/)
  // The other server authorizes the user that this one has authenticated.
  match(await k(['get', '--raw', path, '--as', 'someone']), /Forbidden|forbidden/)
  match(await k(['get', '--raw', `${path}/two`]), /leasecandidates\.coordination\.k8s\.io "two" not found/)
  // What no server serves is not found, and is not forwarded to and fro.
  match(
    await k(['get', '--raw', '/apis/coordination.k8s.io/v9/things']),
    /the server could not find the requested resource/,
  )
  match(await k(['delete', '--raw', `${path}/one`]), /"status":"Success"/)

  await servers.end(1, 'SIGKILL')
  match(await list(), /the API server apiserver-\w+ on \S+ does not respond/)
  await servers.run(1)
  equal((await untilMatch(list, /LeaseCandidateList/)).includes('"items":[]'), true)
})
