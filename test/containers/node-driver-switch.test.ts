// From simulated nodes to real ones and back: the nodes of the previous start are removed with their pods.
import { equal } from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { kubectls, runKubectl } from '../kubectl.ts'
import { newFolder, startUpIn } from '../process.ts'
import { untilMatch } from '../until.ts'
import { inNamespaces } from './namespaces.ts'

inNamespaces(import.meta.url, () => {
  test('nodes of the driver that is no longer used are removed', async () => {
    const folder = await newFolder()
    const [kubectl] = kubectls()
    if (kubectl === undefined) throw new Error('there is no kubectl')
    const own = hostname().toLowerCase()
    const runs: [options: string[], nodes: RegExp][] = [
      [['--runtime', 'simulated', '--nodes', '2'], /^node-0 node-1$/],
      [['--runtime', 'containerd'], new RegExp(`^${own}$`)],
      [['--runtime', 'simulated'], /^node-0$/],
    ]
    try {
      for (const [options, nodes] of runs) {
        await using up = await startUpIn(folder, ...options)
        const names = ['get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}']
        await untilMatch(async () => {
          const { code, out, err } = await runKubectl(kubectl, up.kubeconfig, names)
          equal(code, 0, err)
          return out
        }, nodes)
      }
    } finally {
      await rm(folder, { recursive: true, force: true }).catch(() => {})
    }
  })
})
