// Kubeconfig: writes and reads the file with the address, certificate authority and identity for an API server.
import type { Identity } from './authority.ts'
import { base64Text } from './pem.ts'

export interface Kubeconfig {
  readonly server: string
  readonly authority: string
  readonly identity: Identity
}

export interface KubeconfigNames {
  /** The name of the cluster and of its context. */
  readonly cluster?: string
  readonly user?: string
  /** Written as an extension, by which the cluster recognizes its own entries. */
  readonly dataDirectory?: string
}

/** The content of the file. Certificates are embedded, so that it can be copied to another machine. */
export const kubeconfigText = (
  { server, authority, identity }: Kubeconfig,
  { cluster = 'coxswain', user = 'admin', dataDirectory }: KubeconfigNames = {},
): string => `apiVersion: v1
kind: Config
clusters:
- name: ${cluster}
  cluster:
    server: ${server}
    certificate-authority-data: ${base64Text(authority)}
${extensionText(dataDirectory)}contexts:
- name: ${cluster}
  context:
    cluster: ${cluster}
    user: ${user}
current-context: ${cluster}
users:
- name: ${user}
  user:
    client-certificate-data: ${base64Text(identity.certificate)}
    client-key-data: ${base64Text(identity.key)}
${extensionText(dataDirectory)}`

const extensionText = (dataDirectory: string | undefined): string =>
  dataDirectory === undefined
    ? ''
    : `    extensions:
    - name: coxswain
      extension:
        data-directory: ${JSON.stringify(dataDirectory)}
`

/** Reads a kubeconfig with embedded certificates. */
export function parseKubeconfig(text: string): Kubeconfig {
  const value = (name: string): string => {
    // linear: the file belongs to the user who runs the program.
    const found = new RegExp(`^\\s*(?:- )?${name}:\\s*["']?([^\\s"']+)`, 'm').exec(text)?.[1]
    if (found === undefined) throw new Error(`the kubeconfig has no ${name}`)
    return found
  }
  const decoded = (name: string) => new TextDecoder().decode(Uint8Array.fromBase64(value(name)))
  return {
    server: value('server'),
    authority: decoded('certificate-authority-data'),
    identity: { certificate: decoded('client-certificate-data'), key: decoded('client-key-data') },
  }
}
