// When an image is pulled, if nobody says.

/** An image without a tag, or with the tag latest, is pulled each time. */
export function imagePullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  if (image.includes('@')) return 'IfNotPresent'
  const tag = /:([^/:]+)$/.exec(image)?.[1] ?? 'latest'
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}
