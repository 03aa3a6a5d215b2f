int ccurl_version(void);
