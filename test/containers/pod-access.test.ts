// A pod reaches an API server that listens on loopback, at the address that every client in a pod uses.
import { equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { kubectls } from '../kubectl.ts'
import { inNamespaces } from './namespaces.ts'
import { startRealUp } from './up.harness.ts'

const libraries = ['/lib', '/lib64'].filter((path) => existsSync(path))
const addresses = async () => (await promisify(execFile)('ip', ['-o', 'addr', 'show', 'dev', 'lo'])).stdout

inNamespaces(import.meta.url, () => {
  test('a pod calls the API server with its own token', async () => {
    {
      await using up = await startRealUp()
      // The image contains only a shell: kubectl and its libraries are mounted from this machine.
      const kubectl = dirname(realpathSync(kubectls().at(-1)?.path ?? ''))
      const mounts = [[kubectl, '/programs'], ...libraries.map((path) => [realpathSync(path), path])]
      await up.apply({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'caller' },
        spec: {
          containers: [
            {
              name: 'c',
              image: up.image,
              volumeMounts: mounts.map(([, mountPath], index) => ({ name: `v${index}`, mountPath, readOnly: true })),
            },
          ],
          volumes: mounts.map(([path], index) => ({ name: `v${index}`, hostPath: { path } })),
        },
      })
      await up.k(['wait', 'pod/caller', '--for=condition=Ready', '--timeout=200s'])
      // As every client in a pod: address, authority and token are those of the pod.
      match(await up.sh('caller', 'HOME=/tmp /programs/kubectl auth whoami'), /system:serviceaccount:default:default/)
      match(await addresses(), /10\.96\.0\.1\/32/)
      equal(await up.sh('caller', 'echo $KUBERNETES_SERVICE_HOST'), '10.96.0.1\n')
    }
    equal((await addresses()).includes('10.96.0.1'), false, 'the address goes with the cluster')
  })
})
