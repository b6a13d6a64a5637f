// coxswain registry with real containers: images that are pushed to it run in pods, because containerd pulls them.
import { equal, match } from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { BuiltImage } from '../../src/wire/oci/oci-image.ts'
import { startProcess } from '../process.ts'
import { untilMatch } from '../until.ts'
import { busybox } from './busybox.ts'
import { inNamespaces } from './namespaces.ts'
import { startRealUp } from './up.harness.ts'

/** Pushes as clients do: the blobs that are missing, in two chunks, and then the manifest. */
async function push(origin: string, name: string, tag: string, { manifest, blobs }: BuiltImage): Promise<void> {
  const path = `${origin}/v2/${name}`
  for (const { digest, bytes } of blobs) {
    if ((await fetch(`${path}/blobs/${digest}`, { method: 'HEAD' })).status === 200) continue
    const half = bytes.length >> 1
    const locationOf = (response: Response) => new URL(response.headers.get('location') ?? '', origin)
    const begun = locationOf(await fetch(`${path}/blobs/uploads/`, { method: 'POST' }))
    const sent = await fetch(begun, { method: 'PATCH', body: Buffer.from(bytes.subarray(0, half)) })
    equal(sent.status, 202)
    const last = locationOf(sent)
    last.searchParams.set('digest', digest)
    equal((await fetch(last, { method: 'PUT', body: Buffer.from(bytes.subarray(half)) })).status, 201)
  }
  const put = await fetch(`${path}/manifests/${tag}`, {
    method: 'PUT',
    headers: { 'content-type': manifest.mediaType },
    body: Buffer.from(manifest.bytes),
  })
  equal(put.status, 201, await put.text())
}

inNamespaces(import.meta.url, () => {
  test('an image is pushed, pulled by its tag, pushed again and pulled again', async () => {
    await using up = await startRealUp()
    const dataDirectory = join(up.podsFolder, '..', '..')
    await using registry = await startProcess(['registry', '--port', '0', '--data-dir', dataDirectory])
    const [, host = ''] = /^ready at http:\/\/(localhost:\d+), /.exec(registry.readyLine) ?? []
    const configMap = [
      'get',
      'configmap',
      'local-registry-hosting',
      '-n',
      'kube-public',
      '--ignore-not-found',
      '-oyaml',
    ]
    await untilMatch(() => up.k(configMap), new RegExp(`localRegistryHosting.v1: \\|\\n +host: "${host}"\\n`))
    const image = `${host}/team/app:dev`
    for (const [podName, says] of [
      ['one', 'first'],
      ['two', 'second'],
    ] as const) {
      await push(`http://${host}`, 'team/app', 'dev', busybox({ command: ['/bin/echo', says] }))
      await up.k(['run', podName, `--image=${image}`, '--image-pull-policy=Always', '--restart=Never'])
      await up.k(['wait', `pod/${podName}`, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=200s'])
      equal(await up.k(['logs', podName]), `${says}\n`)
    }
    await up.k(['run', 'none', `--image=${host}/team/app:none`, '--restart=Never'])
    await untilMatch(() => up.k(['get', 'pod', 'none', '--no-headers']), /ErrImagePull|ImagePullBackOff/)
    await up.k(['delete', 'pod', '--all', '--timeout=200s'])
    equal(await registry.end(), 0)
    match(registry.printed(), /ConfigMap kube-public\/local-registry-hosting/)
  })
})
