// Names and relative paths of objects that become parts of paths on a node. The API server validates most of them; they are
// checked again where paths are made, because a path that leaves its directory belongs to another pod or to the node.

/** Whether a text is one component of a path. */
export const isFileName = (text: string): boolean => text !== '.' && text !== '..' && /^[^/\0]+$/.test(text)

/** Whether a path stays within the directory to which it is relative. */
export const isInnerPath = (path: string): boolean => path.split('/').every(isFileName)
