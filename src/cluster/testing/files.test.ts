// Volumes of simulated nodes: what pods wait for, and the files that container functions see.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import {
  configMap,
  event,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  secret,
  startCluster,
  tokenReview,
  type ContainerFiles,
  type SimulatedProcess,
  type TestCluster,
} from '../index.ts'

/** Images give their files to the test, by pod and container name. */
function program() {
  const files = new Map<string, ContainerFiles>()
  const image = (process: SimulatedProcess) => {
    files.set(`${process.pod.name}/${process.environment['C'] ?? ''}`, process.files)
    return new Promise<number>((resolve) => process.terminated.addEventListener('abort', () => resolve(0)))
  }
  const of = (name: string) => files.get(name) ?? { read: () => Promise.reject(new Error(`${name} has not started`)) }
  return { simulation: { images: { image } }, of: (name: string) => of(name) as ContainerFiles }
}

const container = (name: string, mounts: object[]) => ({
  name,
  image: 'image',
  env: [{ name: 'C', value: name }],
  volumeMounts: mounts,
})
type Input = Parameters<ReturnType<typeof podsOf>['create']>[0]
const podsOf = ({ client }: TestCluster) => client.of(pod)
const podOf = (name: string, volumes: object[], ...containers: object[]) =>
  ({ metadata: { name }, spec: { containers, volumes, terminationGracePeriodSeconds: 0 } }) as Input
const run = (cluster: TestCluster, ...args: Parameters<typeof podOf>) => cluster.client.of(pod).create(podOf(...args))
const isRunning = (cluster: TestCluster, name: string) => async () =>
  (await cluster.client.of(pod).get(name)).status.phase === 'Running'
const mountFailures = async (cluster: TestCluster, name: string) => {
  const { items } = await cluster.client.of(event).list({ fieldSelector: `involvedObject.name=${name}` })
  return items.flatMap(({ reason, message }) => (reason === 'FailedMount' ? [message ?? ''] : []))
}

test('a pod waits for its ConfigMap and its Secret, and sees their keys as files', async () => {
  const { simulation, of } = program()
  await using cluster = await startCluster({ simulation })
  const volumes = [
    { name: 'config', configMap: { name: 'settings' } },
    { name: 'keys', secret: { secretName: 'keys', items: [{ key: 'a', path: 'deep/a' }] } },
  ]
  const mounts = [
    { name: 'config', mountPath: '/etc/config' },
    { name: 'keys', mountPath: '/etc/keys', readOnly: true },
    { name: 'config', mountPath: '/etc/color', subPath: 'color' },
  ]
  await run(cluster, 'p', volumes, container('c', mounts))
  await cluster.clock.advance('5s')
  deepEqual(
    new Set(await mountFailures(cluster, 'p')),
    new Set(['MountVolume.SetUp failed for volume "config" : configmap "settings" not found']),
  )
  await cluster.client.of(configMap).create({ metadata: { name: 'settings' }, data: { color: 'red' } })
  await cluster.clock.advance('1m')
  match((await mountFailures(cluster, 'p')).join(), /"keys" : secret "keys" not found/)
  equal((await cluster.client.of(pod).get('p')).status.phase, 'Pending')
  await cluster.client.of(secret).create({ metadata: { name: 'keys' }, stringData: { a: 'hidden' } })
  await cluster.until(isRunning(cluster, 'p'), '5m')
  const files = of('p/c')
  deepEqual([await files.read('/etc/config/color'), await files.read('/etc/keys/deep/a')], ['red', 'hidden'])
  deepEqual(await files.list('/etc/keys'), ['deep'])
  await rejects(files.write('/etc/config/color', 'green'), { code: 'EROFS' })
  deepEqual(await cluster.exec('p', ['cat', '/etc/config/color']), { exitCode: 0, stdout: 'red', stderr: '' })

  await cluster.client.of(configMap).patch('settings', { data: { color: 'blue', size: '3' } })
  await cluster.clock.advance('1s')
  deepEqual([await files.read('/etc/config/color'), await files.list('/etc/config')], ['blue', ['color', 'size']])
  equal(await files.read('/etc/color'), 'red', 'a subPath is not updated')
})

test('containers of a pod share an emptyDir, which ends with the pod; subPaths are parts of it', async () => {
  const { simulation, of } = program()
  await using cluster = await startCluster({ simulation })
  const volumes = [{ name: 'shared', emptyDir: { medium: 'Memory', sizeLimit: '10' } }]
  const whole = container('whole', [{ name: 'shared', mountPath: '/data' }])
  const part = container('part', [{ name: 'shared', mountPath: '/part', subPathExpr: '$(C)' }])
  await run(cluster, 'p', volumes, whole, part)
  await cluster.until(isRunning(cluster, 'p'))
  await of('p/part').write('/part/x', '12345')
  equal(await of('p/whole').read('/data/part/x'), '12345')
  await rejects(of('p/whole').write('/data/y', '123456'), { code: 'ENOSPC' })
  await cluster.client.of(pod).delete('p')
  await cluster.until(async () => (await cluster.client.of(pod).find('p')) === undefined)
  await run(cluster, 'p', volumes, whole, part)
  await cluster.until(isRunning(cluster, 'p'))
  deepEqual(await of('p/whole').list('/data'), ['part'])
})

test('the token, the authority, pod fields and hosts are files; the token is requested when it is read', async () => {
  const { simulation, of } = program()
  await using cluster = await startCluster({ simulation })
  const fields = [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }]
  const volumes = [{ name: 'info', downwardAPI: { items: fields } }]
  await cluster.client.of(pod).create({
    ...podOf('p', volumes, container('c', [{ name: 'info', mountPath: '/info' }])),
    metadata: { name: 'p', labels: { app: 'web' } },
  })
  await cluster.until(isRunning(cluster, 'p'))
  const files = of('p/c')
  const account = '/var/run/secrets/kubernetes.io/serviceaccount'
  deepEqual(await files.list(account), ['ca.crt', 'namespace', 'token'])
  match(await files.read(`${account}/ca.crt`), /^-----BEGIN CERTIFICATE-----/)
  const token = await files.read(`${account}/token`)
  equal(await files.read(`${account}/token`), token)
  const review = await cluster.client.of(tokenReview).create({ metadata: {}, spec: { token } })
  equal(review.status?.user?.username, 'system:serviceaccount:default:default')
  await cluster.clock.advance('50m')
  ok((await files.read(`${account}/token`)) !== token, 'it is renewed before it expires')
  equal(await files.read('/info/labels'), 'app="web"')
  match(await files.read('/etc/hosts'), /\tp\n$/)
  await cluster.client.of(pod).patch('p', { metadata: { labels: { app: 'api' } } })
  await cluster.clock.advance('1s')
  equal(await files.read('/info/labels'), 'app="api"')
})

test('a container leaves its termination message in a file', async () => {
  const ends = async ({ files }: SimulatedProcess) => {
    await files.write('/dev/termination-log', 'done')
    return 0
  }
  await using cluster = await startCluster({ simulation: { images: { ends } } })
  const spec = { containers: [{ name: 'c', image: 'ends' }], restartPolicy: 'Never' }
  await podsOf(cluster).create({ metadata: { name: 'p' }, spec } as Input)
  const ended = await cluster.until(async () => {
    const { status } = await cluster.client.of(pod).get('p')
    return status.containerStatuses?.[0]?.state?.terminated
  })
  equal(ended.message, 'done')
})

test('a pod waits for its claim; files of a persistent volume survive pods, the kubelet and a power failure', async () => {
  const { simulation, of } = program()
  await using cluster = await startCluster({ simulation })
  const { client } = cluster
  const size = { storage: '1Mi' }
  await client.of(persistentVolumeClaim).create({
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: size }, storageClassName: '', volumeName: 'data' },
  })
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
  const writer = container('c', [{ name: 'data', mountPath: '/data' }])
  const placed = podOf('p', volumes, writer)
  const create = () => client.of(pod).create({ ...placed, spec: { ...placed.spec, nodeName: 'node-0' } } as Input)
  await create()
  await cluster.clock.advance('5s')
  match((await mountFailures(cluster, 'p')).join(), /error processing PVC default\/data: PVC is not bound/)
  await client.of(persistentVolume).create({
    metadata: { name: 'data' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: size,
      storageClassName: '',
      hostPath: { path: '/srv/data', type: 'DirectoryOrCreate' },
    },
  })
  await cluster.until(isRunning(cluster, 'p'), '5m')
  await of('p/c').write('/data/x', 'kept')

  await client.of(pod).delete('p')
  await cluster.until(async () => (await client.of(pod).find('p')) === undefined)
  await create()
  await cluster.until(isRunning(cluster, 'p'))
  equal(await of('p/c').read('/data/x'), 'kept')
  await cluster.powerOff('node-0')
  cluster.start('kubelet/node-0')
  await cluster.clock.advance('1m')
  await cluster.until(isRunning(cluster, 'p'))
  equal(await of('p/c').read('/data/x'), 'kept')
})
