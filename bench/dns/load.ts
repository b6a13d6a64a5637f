// Sends queries over UDP from a process of its own and reports how many responses came and how long they took.
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { fullName, services } from './names.ts'

export interface LoadOrder {
  readonly port: number
  readonly seconds: number
  /** Queries a second; 0 sends the next query with each response. */
  readonly rate: number
}

export interface LoadReport {
  readonly perSecond: number
  readonly lost: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
}

const socketsCount = 8
/** Queries in flight for each socket when the rate is not fixed. */
const windowEach = 8
const lookup = (address: string, _options: unknown, callback: (error: null, address: string, family: number) => void) =>
  callback(null, address, 4)

const questions = Array.from({ length: services }, (_, index) => {
  const labels = fullName(index)
    .split('.')
    .flatMap((label) => [label.length, ...Buffer.from(label)])
  return Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, 1, 0, 1])
})

async function measure({ port, seconds, rate }: LoadOrder): Promise<LoadReport> {
  const timesMs: number[] = []
  const sent = Array.from({ length: socketsCount }, () => new Float64Array(0x1_0000))
  const nextId = new Uint16Array(socketsCount)
  let isRunning = true
  let total = 0
  let next = 0
  const sendOn = (socket: Socket, index: number) => {
    next = (next + 7_919) % services
    const query = Buffer.from(questions[next] as Buffer)
    const id = (nextId[index] = ((nextId[index] as number) + 1) & 0xffff)
    query.writeUInt16BE(id, 0)
    ;(sent[index] as Float64Array)[id] = performance.now()
    total++
    socket.send(query)
  }
  const sockets = await Promise.all(
    Array.from({ length: socketsCount }, async (_, index) => {
      const socket = createSocket({ type: 'udp4', lookup, recvBufferSize: 4 << 20 })
      const connected = once(socket, 'connect')
      socket.connect(port, '127.0.0.1')
      await connected
      socket.on('message', (bytes) => {
        timesMs.push(performance.now() - ((sent[index] as Float64Array)[bytes.readUInt16BE(0)] as number))
        if (isRunning && rate === 0) sendOn(socket, index)
      })
      return socket
    }),
  )
  const startMs = performance.now()
  const endMs = startMs + seconds * 1000
  if (rate === 0)
    for (const [index, socket] of sockets.entries())
      for (let count = 0; count < windowEach; count++) sendOn(socket, index)
  while (performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    if (rate === 0) continue
    const due = Math.floor(((performance.now() - startMs) / 1000) * rate) - total
    for (let count = 0; count < due; count++) sendOn(sockets[total % socketsCount] as Socket, total % socketsCount)
  }
  isRunning = false
  const measuredMs = performance.now() - startMs
  const received = timesMs.length
  await new Promise((resolve) => setTimeout(resolve, 300))
  for (const socket of sockets) socket.close()
  const sorted = Float64Array.from(timesMs).toSorted()
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? NaN
  const lost = total - timesMs.length
  return { perSecond: (received * 1000) / measuredMs, lost, p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999) }
}

process.on('message', (order: LoadOrder) => {
  void measure(order).then((report) => process.send?.(report))
})
