// `kubectl top` with its options, over the metrics API of simulated nodes.
import { equal, match } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { context } from '../../src/base/observability/context.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { startCluster } from '../../src/cluster/testing/start-cluster.ts'
import { kubectls, runKubectl } from '../kubectl.ts'

const ctx = context(new AbortController().signal)
const columns = (out: string): string =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ +/).join(' '))
    .join('\n')

const newest = kubectls().at(-1)

test('kubectl top shows nodes and pods, sorted, summed, selected, by container and across namespaces', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kubectl-top-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(folder, { recursive: true }))
  const cluster = stack.use(await startCluster({ https: true, nodes: 1 }))
  const kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, cluster.kubeconfig)
  const make = (name: string, namespace: string, usage: string) =>
    cluster.client.of(pod).create(
      {
        metadata: { name, labels: { app: name }, annotations: { 'coxswain.dev/usage': usage } },
        spec: { containers: [{ name: 'main', image: 'i' }] },
      },
      namespace,
      ctx,
    )
  await make('busy', 'default', 'cpu=250m,memory=64Mi')
  await make('large', 'default', 'cpu=100m,memory=512Mi')
  await make('other', 'kube-public', 'cpu=10m,memory=8Mi')
  await cluster.clock.advance('60s')
  const top = async (...args: string[]): Promise<string> => {
    if (newest === undefined) throw new Error('there is no kubectl')
    const { code, out, err } = await runKubectl(newest, kubeconfig, ['top', ...args])
    equal(code, 0, err)
    return columns(out === '' ? err : out)
  }
  equal(await top('pod', '--sort-by=cpu'), 'NAME CPU(cores) MEMORY(bytes)\nbusy 250m 64Mi\nlarge 100m 512Mi')
  equal(await top('pod', '--sort-by=memory', '--no-headers'), 'large 100m 512Mi\nbusy 250m 64Mi')
  equal(await top('pod', '-l', 'app=busy', '--no-headers'), 'busy 250m 64Mi')
  equal(await top('pod', 'large', '--containers', '--no-headers'), 'large main 100m 512Mi')
  equal(
    await top('pod', '-A', '--no-headers', '--sort-by=cpu'),
    'default busy 250m 64Mi\ndefault large 100m 512Mi\nkube-public other 10m 8Mi',
  )
  equal(
    await top('pod', '--sum', '--no-headers', '--sort-by=cpu'),
    'busy 250m 64Mi\nlarge 100m 512Mi\n________ ________\n350m 576Mi',
  )
  equal(await top('pod', '-l', 'app=none'), 'No resources found in default namespace.')
  equal(await top('pod', '--field-selector', 'metadata.name=busy', '--no-headers'), 'busy 250m 64Mi')
  equal(await top('pod', '--use-protocol-buffers=false', '-l', 'app=busy', '--no-headers'), 'busy 250m 64Mi')
  equal((await top('node', '--no-headers', '--sort-by=memory')).split(' ')[0], 'node-0')
  const hostname = 'kubernetes.io/hostname=node-0'
  match(await top('node', '-l', hostname, '--show-capacity'), /^NAME .*\nnode-0 \d+m \d+% \d+Mi \d+%$/)
})
