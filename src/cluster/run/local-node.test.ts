import { equal, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { silentLog } from '../../base/observability/log.ts'
import { defaultKubeletSettings } from '../../kubelet/node/kubelet-settings.ts'
import { LocalNode, type LocalNodeOptions } from './local-node.ts'
import { StopProgress } from './stop-progress.ts'

const { signal } = new AbortController()

const newNode = (own: Partial<LocalNodeOptions>) => {
  const options: LocalNodeOptions = {
    settings: defaultKubeletSettings,
    dataDirectory: '/nowhere',
    hostIp: '127.0.0.1',
    kubeletPort: undefined,
    authority: '',
    endsContainers: false,
    ...own,
  }
  return new LocalNode(options, silentLog, new StopProgress(realClock))
}

test('a port of the kubelet that is in use is reported with its flag', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await using node = newNode({ kubeletPort: port })
  await rejects(node.start(signal), {
    message: `cannot listen on 127.0.0.1:${port} for the kubelet; use --kubelet-port`,
  })
  other.close()
})

test('a node that has not started has no address for pods, and stops at once', async () => {
  await using node = newNode({})
  const addListener = () => Promise.reject(new Error('nothing listens'))
  equal(await node.openApi({ host: '127.0.0.1', port: 6443 }, addListener), undefined)
  node.trust('another authority')
  await node.shutDown()
})
