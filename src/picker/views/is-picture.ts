/** Whether browsers show a type as an image. */
export function isPicture(type: string): boolean {
  return /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon|vnd\.microsoft\.icon)$/.test(type);
}
