// Text in which every character is a byte, as HTTP/1.1 uses it in heads.

/** Arguments of one call; more could overflow the stack. */
const charactersMax = 4_096

export function latin1Text(bytes: Uint8Array, from: number, to: number): string {
  let text = ''
  for (let at = from; at < to; at += charactersMax)
    text += String.fromCharCode(...bytes.subarray(at, Math.min(at + charactersMax, to)))
  return text
}

export const latin1Bytes = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return bytes
}
