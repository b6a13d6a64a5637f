// Connections that become streams of a container, and requests that are sent while they are open.
import { equal } from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Exec, KubeConfig } from '@kubernetes/client-node'
import { namespace, overConnections } from './exchange.ts'
import type { Stack } from './stack.ts'

export const execPod = 'shell'

/** The output of a command in the pod. */
async function printed(exec: Exec, command: readonly string[]): Promise<string> {
  const output = new PassThrough()
  const read = text(output)
  await new Promise<void>((resolve, reject) => {
    exec
      .exec(namespace, execPod, 'main', [...command], output, null, null, false, ({ status }) => {
        if (status === 'Success') resolve()
        else reject(new Error(`the command ended with ${status}`))
      })
      .catch(reject)
  })
  output.end()
  return read
}

const upgraded: Stack = {
  name: 'upgraded connections',
  part: 0.002,
  async run({ kubeconfig }, count) {
    const config = new KubeConfig()
    config.loadFromFile(kubeconfig)
    const exec = new Exec(config)
    await overConnections(count, 8, async (index) => {
      equal(await printed(exec, ['echo', `number ${index}`]), `number ${index}\n`)
    })
    return { answered: count, left: 0 }
  },
}

export const upgrades: readonly Stack[] = [upgraded]
