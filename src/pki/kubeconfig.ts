// Kubeconfig: how kubectl and our own components reach an API server: address, authority, identity.
import type { Identity } from './authority.ts'
import { base64Text } from './pem.ts'

export interface Kubeconfig {
  readonly server: string
  readonly authority: string
  readonly identity: Identity
}

/** The file's content; certificates stand in it, so that the file can be moved alone. */
export const kubeconfigText = ({ server, authority, identity }: Kubeconfig, user = 'admin'): string => `apiVersion: v1
kind: Config
clusters:
- name: coxswain
  cluster:
    server: ${server}
    certificate-authority-data: ${base64Text(authority)}
contexts:
- name: coxswain
  context:
    cluster: coxswain
    user: ${user}
current-context: coxswain
users:
- name: ${user}
  user:
    client-certificate-data: ${base64Text(identity.certificate)}
    client-key-data: ${base64Text(identity.key)}
`
