// Kubelets in other processes, over HTTPS. Pods of simulated nodes have no real addresses and are never called, because
// another machine may have such an address.
import { cidrHasAddress, mustParseCidr, parseCidrs } from '../../base/net/cidr.ts'
import { parseIp } from '../../base/net/ip-address.ts'
import { HttpsKubelets, type HttpsKubeletsDeps } from '../../apiserver/kubelet-client/https-kubelets.ts'
import { noKubelets, type KubeletConnection } from '../../apiserver/kubelet-client/kubelet-connection.ts'

/** TEST-NET-1: the addresses of the simulated nodes. */
const simulatedHosts = mustParseCidr('192.0.2.0/24')

/** `simulatedRanges` returns the pod ranges of the simulated nodes. */
export function remoteKubelets(deps: HttpsKubeletsDeps, simulatedRanges: () => readonly string[]): KubeletConnection {
  const kubelets = new HttpsKubelets(deps)
  const isSimulated = (origin: string): boolean => {
    const address = parseIp(new URL(origin).hostname)
    if (address === undefined) return false
    return [simulatedHosts, ...parseCidrs(simulatedRanges())].some((range) => cidrHasAddress(range, address))
  }
  return {
    call: (call, signal) => kubelets.call(call, signal),
    callPod: (call, signal) => (isSimulated(call.origin) ? noKubelets : kubelets).callPod(call, signal),
  }
}
