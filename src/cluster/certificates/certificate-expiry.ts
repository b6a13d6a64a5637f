// Expiry dates of the certificates of a cluster: from its metrics while it runs, otherwise from its files.
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import type { Metrics } from '../../base/observability/metrics.ts'
import { parseKubeconfig } from '../../pki/kubeconfig.ts'
import { parseCertificate } from '../../pki/parse-certificate.ts'
import type { ClusterCertificates } from './cluster-certificates.ts'

export interface CertificateExpiry {
  readonly name: string
  readonly notAfterMs: number
}

export const expiryMetric = 'coxswain_certificate_expiration_timestamp_seconds'

/** Named after their files, except those that are not stored on disk. */
export function expiriesOf(certificates: ClusterCertificates): readonly CertificateExpiry[] {
  const { authority, proxyAuthority, serving, admin, components } = certificates
  const pems: Readonly<Record<string, string>> = {
    ca: authority,
    'front-proxy-ca': proxyAuthority,
    apiserver: serving.certificate,
    admin: admin.certificate,
    ...Object.fromEntries(Object.entries(components).map(([name, { certificate }]) => [name, certificate])),
  }
  return sorted(Object.entries(pems).map(([name, pem]) => ({ name, notAfterMs: parseCertificate(pem).notAfterMs })))
}

/** Returns the function that sets the gauge. */
export function expiryGauge(metrics: Metrics): (certificates: ClusterCertificates) => void {
  const gauge = metrics.gauge(expiryMetric, 'When each certificate of the cluster expires, in seconds since 1970.', [
    'name',
  ])
  return (certificates) => {
    for (const { name, notAfterMs } of expiriesOf(certificates)) gauge.set({ name }, notAfterMs / 1000)
  }
}

/** Parses the expiry dates from a server's metrics. */
export const expiriesInMetrics = (text: string): readonly CertificateExpiry[] =>
  sorted([...text.matchAll(expiryLine)].map(([, name = '', seconds]) => ({ name, notAfterMs: Number(seconds) * 1000 })))

const expiryLine = new RegExp(`^${expiryMetric}\\{name="([^"]+)"\\} (\\S+)$`, 'gm')

/** Reads the expiry dates from the files of a data directory. Unreadable files are skipped. */
export async function expiriesInDirectory(directory: string): Promise<readonly CertificateExpiry[]> {
  const names = existsSync(`${directory}/pki`) ? await readdir(`${directory}/pki`) : []
  const found = names
    .filter((name) => /\.(crt|pem)$/.test(name))
    .map((name) => [name.replace(/\.\w+$/, ''), async () => readFile(`${directory}/pki/${name}`, 'utf8')] as const)
  const admin = async () =>
    parseKubeconfig(await readFile(`${directory}/admin.kubeconfig`, 'utf8')).identity.certificate
  const all = await Promise.all(
    [...found, ['admin', admin] as const].map(async ([name, read]) => {
      try {
        return [{ name, notAfterMs: parseCertificate(await read()).notAfterMs }]
      } catch {
        return []
      }
    }),
  )
  return sorted(all.flat())
}

// Names are compared by code unit: the collator of a locale takes 15 ms of a start to load.
const sorted = (all: readonly CertificateExpiry[]): readonly CertificateExpiry[] =>
  all.toSorted((a, b) => a.notAfterMs - b.notAfterMs || (a.name < b.name ? -1 : 1))
