// Flow 27: static pods, which the node reads from files and from a URL, shown by their mirror pods.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../../src/cluster/index.ts'
import type { ManifestSource } from '../../src/machine/manifests/manifest-source.ts'
import { ctx, startLoneNode } from './lone-node.ts'
import { comparePage, excerpt, inOrder, since } from './page.ts'

const manifest = (name: string, image: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  containers: [{name: c, image: ${image}}]\n`

/** The current content, and the waiters for its change. */
function source(kind: ManifestSource['kind']) {
  const texts = new Map<string, string>()
  let changed = Promise.withResolvers<void>()
  const own: ManifestSource = {
    kind,
    list: () => Promise.resolve([...texts].map(([name, text]) => ({ name, text }))),
    waitForChange: (signal) => {
      signal.addEventListener('abort', () => changed.reject(signal.reason as Error), { once: true })
      return changed.promise
    },
  }
  const write = (name: string, text: string) => {
    texts.set(name, text)
    const previous = changed
    changed = Promise.withResolvers()
    previous.resolve()
  }
  return { own, write }
}

test('27 sources of pods', async () => {
  const files = source('file')
  const address = source('http')
  const digest = (text: string) =>
    `h${text.length}${[...new TextEncoder().encode(text)].reduce((a, b) => (a * 31 + b) >>> 0, 7)}`
  await using node = await startLoneNode({ manifests: [files.own, address.own], digest })
  const { admin, clock, runtime } = node
  const seen = async () =>
    (await admin.of(pod).list({}, ctx)).items.map(({ metadata, status }) => {
      const from = metadata.annotations?.['kubernetes.io/config.source'] ?? 'api'
      return `${metadata.name} ${from} ${status.phase}`
    })
  files.write('web.yaml', manifest('web', 'one'))
  await clock.advance('40s')
  address.write('http://m/', manifest('from-afar', 'two'))
  await clock.advance('40s')
  const spec = { containers: [{ name: 'c', image: 'three' }], nodeName: 'solo' }
  await admin.of(pod).create({ metadata: { name: 'usual' }, spec }, 'default', ctx)
  await clock.advance('10s')
  deepEqual(await seen(), ['from-afar-solo http Running', 'usual api Running', 'web-solo file Running'])
  const flow = node.flowOf('pods', 'web-solo')
  inOrder(flow, /kubelet\/solo ──► API Server: create pods web-solo → 201/, /API Server ══► Store: put pod web-solo/)

  const afar = node.flowOf('pods', 'from-afar-solo')

  files.write('web.yaml', '{nonsense')
  await clock.advance('40s')
  equal((await seen()).length, 3, 'an invalid file does not affect others, and its pod keeps running')
  const running = (await runtime.podUids(ctx.signal)).length
  await admin.of(pod).delete('web-solo', 'default', { gracePeriodSeconds: 0 }, ctx)
  await clock.advance('40s')
  equal((await runtime.podUids(ctx.signal)).length, running, 'who deletes the mirror does not delete the pod')
  deepEqual((await seen()).includes('web-solo file Running'), true)
  const later = since(node.flowOf('pods', 'web-solo'), '··· kubelet/solo: read from file')

  await comparePage('27-sources-of-pods', 'Sources of pods', [
    {
      heading: 'A file becomes a pod',
      text: 'The kubelet runs the pod of the file without the API server, creates a mirror pod in the API and updates its status.',
      diagram: excerpt(flow, /kubelet\/solo ──► API Server: (create|patch)/, /put pod/, /──► Runtime/),
    },
    {
      heading: 'A URL becomes a pod',
      text: 'The URL is fetched every twenty seconds, and its content is handled like a file.',
      diagram: excerpt(afar, /kubelet\/solo ──► API Server: (create|patch)/, /put pod/, /──► Runtime/),
    },
    {
      heading: 'The file becomes invalid, and the mirror is deleted',
      text: 'The error in the file is reported, here and in the log, and its pod keeps running. Deleting the mirror pod does not stop the static pod: the kubelet creates the mirror again without calling the runtime.',
      diagram: excerpt(
        later,
        /read from file/,
        /admin ──►/,
        /kubelet\/solo ──► API Server: (create|patch)/,
        /(put|delete) pod/,
        /──► Runtime/,
      ),
    },
  ])
})
