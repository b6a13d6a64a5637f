// The address of this machine from which its route leads to another address.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIpv4Address, parseIp } from '../../../base/net/ip-address.ts'

const anyPort = 9

/** No packet is sent: connecting a UDP socket only chooses its route. Undefined without a route. */
export async function routeSource(destination: string): Promise<string | undefined> {
  const address = parseIp(destination)
  if (address === undefined) return undefined
  const socket = createSocket(isIpv4Address(address) ? 'udp4' : 'udp6')
  try {
    const connected = once(socket, 'connect')
    socket.connect(anyPort, address)
    await connected
    return socket.address().address
  } catch {
    return undefined
  } finally {
    socket.close()
  }
}
