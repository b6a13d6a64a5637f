// Host ports that programs of the machine use, such as the API server and the kubelet. Their traffic is not redirected to a pod.
import { familyOf } from '../../base/net/address-family.ts'
import type { ListeningSocket } from '../../machine/listening-ports/listening-ports.ts'
import type { HostPort } from './host-ports.ts'

/** From here on the kernel gives UDP ports to clients, which cannot be distinguished from servers. */
const udpClientPortMin = 32_768

/** Whether a program receives packets at the port, as if the pod opened a socket there. */
export const isUsedBy =
  ({ family, protocol, hostIp, hostPort }: HostPort) =>
  (socket: ListeningSocket): boolean =>
    socket.port === hostPort &&
    socket.protocol.toLowerCase() === protocol &&
    !(protocol === 'udp' && hostPort >= udpClientPortMin) &&
    (socket.address === undefined ||
      (familyOf(socket.address) === family && (hostIp === undefined || hostIp === socket.address)))

/** The port as in a Service: `6443/TCP`. */
export const portText = ({ hostPort, protocol }: HostPort): string => `${hostPort}/${protocol.toUpperCase()}`
