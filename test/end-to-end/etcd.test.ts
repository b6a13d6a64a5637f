// The end-to-end scenario on a real etcd cluster: kubectl to Running, a lost quorum that is reported at once, a restart
// that loses nothing.
import { equal, match, notEqual } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { EtcdCluster, newestEtcd } from '../etcd.ts'
import { kubectls, runKubectl } from '../kubectl.ts'
import { startUp } from '../process.ts'
import { until } from '../until.ts'

test('a cluster on etcd with three members: kubectl, a lost quorum, a restart', async () => {
  const kubectl = kubectls().at(-1)
  if (kubectl === undefined) throw new Error('there is no kubectl')
  await using etcd = await EtcdCluster.start(newestEtcd(), 3)
  const { authority, certificate, key } = etcd.files
  const tls = ['--etcd-cafile', authority, '--etcd-certfile', certificate, '--etcd-keyfile', key]
  const options = ['--store', `etcd=${etcd.endpoints.join(',')}`, ...tls]
  let uid: string
  {
    await using up = await startUp(...options)
    const tried = (...args: string[]) => runKubectl(kubectl, up.kubeconfig, args)
    const k = async (...args: string[]) => {
      const { code, out, err } = await tried(...args)
      equal(code, 0, `kubectl ${args.join(' ')}: ${err}`)
      return out
    }
    await k('create', 'deployment', 'web', '--image=nginx', '--replicas=3')
    await k('rollout', 'status', 'deployment/web', '--timeout=200s')
    uid = await k('get', 'deployment', 'web', '-o', 'jsonpath={.metadata.uid}')

    const connection = [
      '--endpoints',
      etcd.endpoints[0] ?? '',
      '--cacert',
      authority,
      '--cert',
      certificate,
      '--key',
      key,
    ]
    const { stdout: keys } = await promisify(execFile)(
      'etcdctl',
      [...connection, 'get', '--prefix', '/registry/', '--keys-only'],
      { env: { ...process.env, ETCDCTL_API: '3' } },
    )
    match(keys, /^\/registry\/deployments\/default\/web$/m)
    equal(keys.match(/^\/registry\/pods\/default\/web-\S+$/gm)?.length, 3)

    await etcd.signal(0, 'SIGKILL')
    await etcd.signal(1, 'SIGKILL')
    // kubectl tries ten times, a second apart, as Retry-After requests.
    const refused = await tried('create', 'configmap', 'late')
    notEqual(refused.code, 0)
    match(refused.err, /etcd has no leader: its quorum is lost/)
    // Cached data is still served to clients that accept it.
    match(await k('get', '--raw', '/api/v1/namespaces/default/pods?resourceVersion=0'), /"name":"web-/)

    etcd.run(0)
    etcd.run(1)
    // A write that was applied without a response is present when it is read again.
    await until(async () => {
      const { code, err } = await tried('create', 'configmap', 'again')
      return code === 0 || err.includes('AlreadyExists')
    })
    await k('scale', 'deployment/web', '--replicas=4')
    await k('rollout', 'status', 'deployment/web', '--timeout=200s')
    equal(await up.end(), 0)
  }
  await using second = await startUp(...options)
  const { out } = await runKubectl(kubectl, second.kubeconfig, [
    'get',
    'deployment',
    'web',
    '-o',
    'jsonpath={.metadata.uid}',
  ])
  equal(out, uid)
})
