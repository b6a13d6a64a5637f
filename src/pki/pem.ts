// PEM: DER in base 64 between two lines.
export const pem = (label: string, der: Uint8Array): string =>
  `-----BEGIN ${label}-----\n${(der.toBase64().match(/.{1,64}/g) ?? []).join('\n')}\n-----END ${label}-----\n`

export const base64Text = (text: string): string => new TextEncoder().encode(text).toBase64()
