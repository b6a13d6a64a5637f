// The certificates of a cluster in the output of `coxswain status`, first to expire first.
import {
  expiriesInDirectory,
  expiriesInMetrics,
  type CertificateExpiry,
} from '../../cluster/certificates/certificate-expiry.ts'
import { streamCoxswainPath } from '../../cluster/client/coxswain-path.ts'

/** From the metrics of a running cluster, otherwise from the files of the data directory. */
export async function certificateLines(
  directory: string,
  kubeconfig: string | undefined,
  nowMs: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const reported = kubeconfig === undefined ? [] : await expiriesOfServer(kubeconfig, signal)
  return expiryLines(reported.length === 0 ? await expiriesInDirectory(directory) : reported, nowMs)
}

async function expiriesOfServer(kubeconfig: string, signal: AbortSignal): Promise<readonly CertificateExpiry[]> {
  try {
    let text = ''
    for await (const piece of streamCoxswainPath(kubeconfig, '/metrics', signal)) text += piece
    return expiriesInMetrics(text)
  } catch {
    signal.throwIfAborted()
    return [] // the status reports an unreachable server elsewhere
  }
}

const dayMs = 86_400_000

export function expiryLines(expiries: readonly CertificateExpiry[], nowMs: number): readonly string[] {
  const width = Math.max(0, ...expiries.map(({ name }) => name.length))
  return expiries.map(({ name, notAfterMs }) => {
    const days = Math.floor((notAfterMs - nowMs) / dayMs)
    const left = days < 0 ? 'EXPIRED' : `${days} days left`
    return `${name.padEnd(width)}  until ${new Date(notAfterMs).toISOString().slice(0, 10)}, ${left}`
  })
}
