// Sends requests over plain HTTP/1.1 from a process of its own, the next one on each connection when its response has
// arrived, and reports the rate and the times.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface LoadOrder {
  readonly port: number
  readonly connections: number
  readonly seconds: number
}

export interface LoadReport {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const request = Buffer.from(
  'GET /some/path?a=b HTTP/1.1\r\nhost: web.example.com\r\nuser-agent: bench\r\naccept: */*\r\n\r\n',
)
const bodyEnd = 'hello world\n'

async function measure({ port, connections, seconds }: LoadOrder): Promise<LoadReport> {
  const timesMs: number[] = []
  let isRunning = true
  const failed = Promise.withResolvers<never>()
  const open = async (): Promise<Socket> => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    await once(socket, 'connect')
    let startMs = 0
    let text = ''
    const send = () => {
      startMs = performance.now()
      socket.write(request)
    }
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1')
      if (!text.endsWith(bodyEnd)) return
      if (!text.startsWith('HTTP/1.1 200 ')) failed.reject(new Error(`a request failed: ${text}`))
      text = ''
      timesMs.push(performance.now() - startMs)
      if (isRunning) send()
      else socket.destroy()
    })
    socket.on('error', failed.reject)
    send()
    return socket
  }
  const startMs = performance.now()
  const sockets = await Promise.all(Array.from({ length: connections }, open))
  const timer = Promise.withResolvers<void>()
  setTimeout(timer.resolve, seconds * 1_000)
  await Promise.race([timer.promise, failed.promise])
  isRunning = false
  const requests = timesMs.length
  const perSecond = requests / ((performance.now() - startMs) / 1_000)
  await Promise.all(sockets.flatMap((socket) => (socket.destroyed ? [] : once(socket, 'close'))))
  const sorted = timesMs.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
  return { requests, perSecond, p50Ms: at(0.5), p99Ms: at(0.99) }
}

process.on('message', (order: LoadOrder) => void measure(order).then((report) => process.send?.(report)))
