// Access: the address and the credentials of an API server, read from a kubeconfig.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export interface Access {
  readonly host: string
  readonly port: number
  readonly ca: string
  readonly cert: string
  readonly key: string
}

interface KubeconfigFile {
  readonly clusters: readonly [{ readonly cluster: Record<string, string> }]
  readonly users: readonly [{ readonly user: Record<string, string> }]
}

export function accessOf(path: string): Access {
  const { clusters, users } = parse(readFileSync(path, 'utf8')) as KubeconfigFile
  const [{ cluster }] = clusters
  const [{ user }] = users
  const pem = (from: Record<string, string>, name: string) =>
    from[`${name}-data`] === undefined
      ? readFileSync(from[name] ?? '', 'utf8')
      : Buffer.from(from[`${name}-data`] ?? '', 'base64').toString()
  const { hostname, port } = new URL(cluster['server'] ?? '')
  return {
    host: hostname,
    port: Number(port),
    ca: pem(cluster, 'certificate-authority'),
    cert: pem(user, 'client-certificate'),
    key: pem(user, 'client-key'),
  }
}

export const originOf = ({ host, port }: Access): string => `https://${host}:${port}`
