// apply() with files, and until.ready().
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { namespace } from '../../api/core/v1/namespace.ts'
import { startCluster } from './start-cluster.ts'

const folder = await mkdtemp(join(tmpdir(), 'coxswain-manifests-'))
after(() => rm(folder, { recursive: true }))

const web = (cpu: string) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: c, image: i, resources: { requests: { cpu: '${cpu}' } } }] }
`
await writeFile(join(folder, 'b.yaml'), web('1'))
await writeFile(join(folder, 'a.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings }\n')
await writeFile(join(folder, 'c.json'), '{ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "more" } }')
await writeFile(join(folder, 'wrong.yml'), 'kind: ConfigMap\n')

test('files are applied by pattern, path and URL, in the order of their names', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const names = async (source: Parameters<typeof cluster.apply>[0]) =>
    (await cluster.apply(source)).map(({ metadata }) => metadata.name)
  deepEqual(await names(join(folder, '*.yaml')), ['settings', 'web'])
  deepEqual(await names(join(folder, 'c.json')), ['more'])
  deepEqual(await names(pathToFileURL(join(folder, 'a.yaml'))), ['settings'])
  await rejects(cluster.apply(join(folder, 'none-*.yaml')), /no file matches .*none-\*\.yaml/)
  await rejects(cluster.apply(join(folder, 'wrong.yml')), /wrong\.yml: a manifest needs an apiVersion/)
})

test('an object is returned once it is ready', async () => {
  await using cluster = await startCluster()
  await cluster.apply(web('1'))
  const { status } = await cluster.until.ready(deployment, 'web')
  equal(status.availableReplicas, 2)
  equal((await cluster.until.ready(namespace, 'default')).metadata.name, 'default')
})

test('what is not ready is explained', async () => {
  await using cluster = await startCluster()
  await cluster.apply(web('100'))
  await rejects(cluster.until.ready(deployment, 'web', { within: '5s' }), (error: Error) => {
    match(error.message, /^deployment\/web is not ready after 5s of the cluster's time\n\ndeployment\/web\n/)
    match(error.message, /1 Insufficient cpu/)
    return true
  })
  await rejects(
    cluster.until.ready(configMap, 'none', { namespace: 'kube-system', within: 0 }),
    /configmap\/none does not exist after 0 of the cluster's time/,
  )
})
