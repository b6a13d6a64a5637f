// PEM: DER in base64 between two lines with a label.
export const encodePem = (label: string, der: Uint8Array): string =>
  `-----BEGIN ${label}-----\n${(der.toBase64().match(/.{1,64}/g) ?? []).join('\n')}\n-----END ${label}-----\n`

/** The DER of the first block. */
export function decodePem(text: string): Uint8Array {
  const [, label, content, endLabel] = /-----BEGIN ([^-]+)-----([^-]+)-----END ([^-]+)-----/.exec(text) ?? []
  if (content === undefined || label !== endLabel) throw new Error('there is no PEM')
  return Uint8Array.fromBase64(content)
}

export const base64Text = (text: string): string => new TextEncoder().encode(text).toBase64()

/** The blocks with one of these labels, as they are in the text. */
export const pemBlocks = (text: string, ...labels: readonly string[]): readonly string[] =>
  Array.from(text.matchAll(/-----BEGIN ([^-]+)-----[^-]+-----END ([^-]+)-----/g)).flatMap(([block, label = '', end]) =>
    label === end && (labels.length === 0 || labels.includes(label)) ? [block] : [],
  )
